import Dispatch
import NIOCore

/// Writes the lines of the audit to the log, on a thread of its own and 20 ms later, because the log is slower than an
/// answer. `AuditMerger` decides what becomes a line.
final class AuditTrail: Sendable {
    /// The first of one or more acts of the same caller, and their number.
    struct Line: Equatable, Sendable {
        var act: AuditedAct
        var count: Int
    }

    private let loop: any EventLoop
    private let merger: NIOLoopBoundBox<AuditMerger>
    // A private serial queue: Dispatch's global queues start a monitor that wakes the process every second.
    private let queue = DispatchQueue(label: "junctiond.audit")
    private let write: @Sendable (Line) -> Void

    /// How long lines wait before they are written.
    static let delay = TimeAmount.milliseconds(20)
    /// How long acts of one caller are counted together. journald's rate limit has the same default interval.
    static let period = TimeAmount.seconds(30)

    /// - Parameter write: writes one line, on the trail's own thread.
    init(_ loop: any EventLoop, write: @escaping @Sendable (Line) -> Void) {
        self.loop = loop
        self.write = write
        merger = .makeBoxSendingValue(AuditMerger(), eventLoop: loop)
    }

    /// Records an act. Call it on the event loop.
    func note(_ act: AuditedAct) {
        let due = merger.withValue { $0.note(act) }
        if due.lines { loop.scheduleTask(in: Self.delay) { self.writeLines() } }
        if due.endOfPeriod { loop.scheduleTask(in: Self.period) { self.endPeriod() } }
    }

    /// Writes the remaining lines, and returns when they are written. Do not call it on the event loop.
    func close() {
        try? loop.submit { self.endPeriod() }.wait()
        queue.sync {}
    }

    private func endPeriod() {
        merger.withValue { $0.endPeriod() }
        writeLines()
    }

    private func writeLines() {
        let lines = merger.withValue { $0.takeLines() }
        guard !lines.isEmpty else { return }
        queue.async { [write] in
            for line in lines { write(line) }
        }
    }
}
