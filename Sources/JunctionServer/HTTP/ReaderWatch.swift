import NIOCore

/// Closes the connection of a client that does not read its answer, or reads it too slowly.
///
/// Lives on the event loop, and not longer than its connection.
final class ReaderWatch {
    private unowned let connection: HTTPConnection
    /// How long the client may read nothing, or too little.
    private let readingTimeout: Duration
    private var progress = Progress()
    private var budget: WaitingBudget
    private var timer: Scheduled<Void>?

    /// The bytes of answers that were written, and those of them that still wait.
    private struct Progress {
        var written = 0
        var queued = 0

        func taken(since before: Self) -> Int { max(0, written - queued - (before.written - before.queued)) }
    }

    init(of connection: HTTPConnection) {
        self.connection = connection
        readingTimeout = connection.dispatcher.timeouts.reading
        budget = WaitingBudget(readingTimeout)
    }

    func wrote(_ count: Int) { progress.written += count }

    /// Starts or stops the timer, after bytes were written or taken.
    func look() {
        progress.queued = connection.queued
        guard progress.queued > 0 else { return caughtUp() }
        // There is no time limit for states: `sendNotification` queues none while the channel is not writable, so only
        // a bounded number waits.
        guard timer == nil, connection.watch == .off else { return }
        let (watch, before) = (NIOLoopBound(self, eventLoop: connection.eventLoop), progress)
        timer = connection.eventLoop.scheduleTask(in: TimeAmount(readingTimeout)) { watch.value.judge(since: before) }
    }

    func end() {
        timer?.cancel()
        timer = nil
    }

    private func caughtUp() {
        end()
        budget = WaitingBudget(readingTimeout)
    }

    private func judge(since before: Progress) {
        timer = nil
        progress.queued = connection.queued
        budget.waited(readingTimeout, for: progress.taken(since: before))
        guard progress.queued == 0 || !budget.isSpent else { return connection.close() }
        look()
    }
}
