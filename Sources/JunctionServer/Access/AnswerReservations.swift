import NIOCore

/// Carries out the decisions of `AnswerBudget`. Lives on the event loop.
final class AnswerReservations {
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

    func mayBegin(for user: UInt32) -> Bool { budget.mayBegin(for: user) }

    func keep(_ bytes: Int, for user: UInt32) { budget.keep(bytes, for: user) }

    func keepIfRoom(_ bytes: Int, for user: UInt32) -> Bool { budget.keepIfRoom(bytes, for: user) }

    func release(_ bytes: Int, of user: UInt32) {
        budget.release(bytes, of: user)
        grantSoon()
    }

    /// Waits until `bytes` bytes fit, at most for `time`.
    ///
    /// - Parameter answer: called once, after this function has returned, unless the ticket is withdrawn. The argument
    ///   is true when the bytes have been counted, and false when the time is over.
    func reserve(_ bytes: Int, for user: UInt32, within time: Duration, answer: @escaping (Bool) -> Void) -> Int {
        let ticket = budget.reserve(bytes, for: user)
        let reservations = NIOLoopBound(self, eventLoop: eventLoop)
        let deadline = eventLoop.scheduleTask(in: TimeAmount(time)) { reservations.value.timeIsOver(for: ticket) }
        waiting[ticket] = Reservation(deadline: deadline, answer: answer)
        grantSoon()
        return ticket
    }

    /// Cancels a reservation.
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
        let reservations = NIOLoopBound(self, eventLoop: eventLoop)
        eventLoop.execute { reservations.value.grant() }
    }

    private func grant() {
        isGrantDue = false
        // Grants one at a time, because `answer` may withdraw another reservation.
        while let ticket = budget.grantNext() {
            let reservation = waiting.removeValue(forKey: ticket)
            reservation?.deadline.cancel()
            reservation?.answer(true)
        }
    }
}
