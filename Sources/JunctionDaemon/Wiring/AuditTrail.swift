import Dispatch
import NIOCore

/// The lines of the audit on their way to the log, which is slower than an answer: they are written behind its back, on a
/// thread of their own, 20 ms later.
///
/// Each act is a line. Only in a flood do equal acts share one, which says how many they were: so the log can be neither
/// flooded nor outrun, and what it says is still the whole truth.
final class AuditTrail: Sendable {
    /// An act, and how often it happened since the lines before.
    struct Line: Equatable, Sendable {
        var act: AuditedAct
        var count: Int
    }

    private let loop: any EventLoop
    private let page: NIOLoopBoundBox<Page>
    // Private and serial: the global queues start a monitor that wakes the process every second for ever.
    private let queue = DispatchQueue(label: "junctiond.audit")
    private let write: @Sendable (Line) -> Void

    /// More acts than this between two writes are a flood.
    static let mostSingleLines = 64
    /// So many different acts are written at once, so that the page does not grow.
    static let mostDifferent = 1_024
    /// How long lines wait…
    static let delay = TimeAmount.milliseconds(20)
    /// …and how long after a flood.
    static let delayInFlood = TimeAmount.seconds(1)

    /// - Parameter write: writes one line, on the trail's own thread.
    init(_ loop: any EventLoop, write: @escaping @Sendable (Line) -> Void) {
        self.loop = loop
        self.write = write
        page = .makeBoxSendingValue(Page(), eventLoop: loop)
    }

    /// Notes an act; called on the loop.
    func note(_ act: AuditedAct) {
        let delay = page.withValue { page in
            page.add(act)
            return page.dueDate()
        }
        if let delay { loop.scheduleTask(in: delay) { self.turnPage() } }
        if page.withValue({ $0.isFull }) { turnPage() }
    }

    /// Writes what is still to be written, and returns when it is; not called on the loop.
    func close() {
        try? loop.submit { self.turnPage() }.wait()
        queue.sync {}
    }

    private func turnPage() {
        let lines = page.withValue { $0.turn() }
        guard !lines.isEmpty else { return }
        queue.async { [write] in
            for line in lines { write(line) }
        }
    }
}

/// What happened since the last lines were written.
private struct Page {
    private var lines: [AuditTrail.Line] = []
    /// Where the line of an act is that happened before in this flood.
    private var places: [AuditedAct: Int] = [:]
    private var isScheduled = false
    private var wasFlooded = false

    var isFull: Bool { lines.count >= AuditTrail.mostDifferent }

    mutating func add(_ act: AuditedAct) {
        guard lines.count >= AuditTrail.mostSingleLines else {
            lines.append(.init(act: act, count: 1))
            return
        }
        if lines.count > AuditTrail.mostSingleLines, lines[lines.count - 1].act == act {
            // Whoever asks without end has asked just before: to find that again is quicker than to look it up.
            lines[lines.count - 1].count += 1
        } else if let place = places[act] {
            lines[place].count += 1
        } else {
            places[act] = lines.count
            lines.append(.init(act: act, count: 1))
        }
    }

    /// When the page is to be turned, unless that is settled already.
    mutating func dueDate() -> TimeAmount? {
        guard !isScheduled else { return nil }
        isScheduled = true
        return wasFlooded ? AuditTrail.delayInFlood : AuditTrail.delay
    }

    mutating func turn() -> [AuditTrail.Line] {
        wasFlooded = !places.isEmpty
        isScheduled = false
        places = [:]
        defer { lines = [] }
        return lines
    }
}
