import NIOCore

/// Carries out what `AnswerBudget` decides. Lives on the event loop.
final class AnswerAccounts {
    private var budget: AnswerBudget
    private let eventLoop: any EventLoop
    private var waiting: [Int: Reservation] = [:]
    private var isGrantDue = false

    private struct Reservation {
        let deadline: Scheduled<Void>
        let answer: (Bool) -> Void
    }

    init(_ limits: CallerLimits, _ eventLoop: any EventLoop) {
        budget = AnswerBudget(perUser: limits.answers, altogether: limits.answersOfAll)
        self.eventLoop = eventLoop
    }

    /// How many bytes are kept for all users.
    var used: Int { budget.used }

    /// Whether a further call may begin for this user.
    func mayBegin(for user: UInt32) -> Bool { budget.mayBegin(for: user) }

    /// Counts bytes that are there already.
    func keep(_ bytes: Int, for user: UInt32) { budget.keep(bytes, for: user) }

    /// Counts bytes if there is space for them now; whether there was.
    func keepIfRoom(_ bytes: Int, for user: UInt32) -> Bool { budget.keepIfRoom(bytes, for: user) }

    /// Counts bytes no more.
    func release(_ bytes: Int, of user: UInt32) {
        budget.release(bytes, of: user)
        grantSoon()
    }

    /// Waits until there is space for so many bytes, at most for `time`.
    ///
    /// - Parameter answer: called once unless the ticket is withdrawn: with true when the bytes have been counted, with false
    ///   when the time is over. Later, never from in here.
    func reserve(_ bytes: Int, for user: UInt32, within time: Duration, answer: @escaping (Bool) -> Void) -> Int {
        let ticket = budget.reserve(bytes, for: user)
        let accounts = NIOLoopBound(self, eventLoop: eventLoop)
        let deadline = eventLoop.scheduleTask(in: TimeAmount(time)) { accounts.value.timeIsOver(for: ticket) }
        waiting[ticket] = Reservation(deadline: deadline, answer: answer)
        grantSoon()
        return ticket
    }

    /// Whoever waits with this ticket needs no space any more.
    func withdraw(_ ticket: Int) {
        waiting.removeValue(forKey: ticket)?.deadline.cancel()
        budget.withdraw(ticket)
        grantSoon()
    }

    private func timeIsOver(for ticket: Int) {
        let reservation = waiting[ticket]
        withdraw(ticket)
        reservation?.answer(false)
    }

    private func grantSoon() {
        guard !waiting.isEmpty, !isGrantDue else { return }
        isGrantDue = true
        let accounts = NIOLoopBound(self, eventLoop: eventLoop)
        eventLoop.execute { accounts.value.grant() }
    }

    private func grant() {
        isGrantDue = false
        // One after the other: whoever is called may withdraw what another one waits for.
        while let ticket = budget.grantNext() {
            let reservation = waiting.removeValue(forKey: ticket)
            reservation?.deadline.cancel()
            reservation?.answer(true)
        }
    }
}
