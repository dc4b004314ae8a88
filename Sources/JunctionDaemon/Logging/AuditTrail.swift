import Dispatch
import NIOCore

/// The lines of the audit on their way to the log, which is slower than an answer: they are written behind its back, on a
/// thread of their own, 20 ms later. `AuditMerger` decides what becomes a line.
final class AuditTrail: Sendable {
    /// An act, and for how many of the same caller it stands: their first.
    struct Line: Equatable, Sendable {
        var act: AuditedAct
        var count: Int
    }

    private let loop: any EventLoop
    private let merger: NIOLoopBoundBox<AuditMerger>
    // Private and serial: the global queues start a monitor that wakes the process every second for ever.
    private let queue = DispatchQueue(label: "junctiond.audit")
    private let write: @Sendable (Line) -> Void

    /// How long lines wait.
    static let delay = TimeAmount.milliseconds(20)
    /// For so long the acts of one caller are counted together: as long as journald counts lines by default.
    static let period = TimeAmount.seconds(30)

    /// - Parameter write: writes one line, on the trail's own thread.
    init(_ loop: any EventLoop, write: @escaping @Sendable (Line) -> Void) {
        self.loop = loop
        self.write = write
        merger = .makeBoxSendingValue(AuditMerger(), eventLoop: loop)
    }

    /// Notes an act; called on the loop.
    func note(_ act: AuditedAct) {
        let due = merger.withValue { $0.note(act) }
        if due.lines { loop.scheduleTask(in: Self.delay) { self.writeLines() } }
        if due.endOfPeriod { loop.scheduleTask(in: Self.period) { self.endPeriod() } }
    }

    /// Writes what is still to be written, and returns when it is; not called on the loop.
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
