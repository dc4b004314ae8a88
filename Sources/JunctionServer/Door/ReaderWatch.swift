import NIOCore

/// Looks whether the other side reads what is written to it: an answer that nobody reads is not kept for ever, nor one that is
/// read in crumbs.
///
/// Lives on the event loop, and no longer than the connection whose it is.
final class ReaderWatch {
    private let patience: Duration
    private let eventLoop: any EventLoop
    private let queued: () -> Int
    private let mayRest: () -> Bool
    private let giveUp: () -> Void
    private var progress = Progress()
    private var budget: WaitingBudget
    private var timer: Scheduled<Void>?

    /// How far answers have come: of what was written, some waits.
    private struct Progress {
        var written = 0
        var queued = 0

        func taken(since before: Self) -> Int { max(0, written - queued - (before.written - before.queued)) }
    }

    /// - Parameters:
    ///   - patience: how long nothing may be read, or too little of it.
    ///   - queued: how much of what was written waits.
    ///   - mayRest: whether what waits may wait for ever, because there will not be more of it: states are one at most.
    ///   - giveUp: it has not been read.
    init(
        _ patience: Duration,
        _ eventLoop: any EventLoop,
        queued: @escaping () -> Int,
        mayRest: @escaping () -> Bool,
        giveUp: @escaping () -> Void
    ) {
        (self.patience, self.eventLoop) = (patience, eventLoop)
        (self.queued, self.mayRest, self.giveUp) = (queued, mayRest, giveUp)
        budget = WaitingBudget(patience)
    }

    func wrote(_ count: Int) { progress.written += count }

    /// Something was written, or taken.
    func look() {
        progress.queued = queued()
        guard progress.queued > 0 else { return caughtUp() }
        guard timer == nil, !mayRest() else { return }
        let (watch, before) = (NIOLoopBound(self, eventLoop: eventLoop), progress)
        timer = eventLoop.scheduleTask(in: TimeAmount(patience)) { watch.value.judge(since: before) }
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
        progress.queued = queued()
        budget.waited(patience, for: progress.taken(since: before))
        guard progress.queued == 0 || !budget.isSpent else { return giveUp() }
        look()
    }
}
