import NIOCore

/// Looks whether the other side reads what is written to it: an answer that nobody reads is not kept for ever, nor one that is
/// read in crumbs.
///
/// Lives on the event loop, and no longer than the connection whose it is.
final class ReaderWatch {
    private unowned let connection: HTTPConnection
    /// How long nothing may be read, or too little of it.
    private let patience: Duration
    private var progress = Progress()
    private var budget: WaitingBudget
    private var timer: Scheduled<Void>?

    /// How far answers have come: of what was written, some waits.
    private struct Progress {
        var written = 0
        var queued = 0

        func taken(since before: Self) -> Int { max(0, written - queued - (before.written - before.queued)) }
    }

    init(of connection: HTTPConnection) {
        self.connection = connection
        patience = connection.dispatcher.patience.reading
        budget = WaitingBudget(patience)
    }

    func wrote(_ count: Int) { progress.written += count }

    /// Something was written, or taken.
    func look() {
        progress.queued = connection.queued
        guard progress.queued > 0 else { return caughtUp() }
        // No time limit for states: `post` queues none while the channel is not writable, so only a bounded number waits.
        guard timer == nil, connection.watch == .off else { return }
        let (watch, before) = (NIOLoopBound(self, eventLoop: connection.eventLoop), progress)
        timer = connection.eventLoop.scheduleTask(in: TimeAmount(patience)) { watch.value.judge(since: before) }
    }

    /// Nobody is there any more.
    func end() {
        timer?.cancel()
        timer = nil
    }

    private func caughtUp() {
        end()
        budget = WaitingBudget(patience)
    }

    private func judge(since before: Progress) {
        timer = nil
        progress.queued = connection.queued
        budget.waited(patience, for: progress.taken(since: before))
        guard progress.queued == 0 || !budget.isSpent else { return connection.close() }
        look()
    }
}
