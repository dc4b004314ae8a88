import JunctionSession

/// The questions to session handlers.
extension Model {
    /// Records a question to a handler.
    mutating func asks(_ handler: Int, _ uid: UInt32, _ question: RenewalQuestion, _ world: Simulation) {
        let time = world.time
        if let open, time < open.until { world.fail("two questions are open: \(open.question) and \(question)") }
        if question.reason != .missing, question.reason != .requested, let quietUntil, time < quietUntil {
            if question.reason != .expired || quietUsers.contains(uid) {
                world.fail("a handler was asked within ten minutes of unable")
            }
            world.coverage.note(.passedPostponements)
        }
        if question.reason != .missing { quietUsers.insert(uid) }
        var round = rounds[question.attempt] ?? (began: time, users: [])
        if !round.users.insert(uid).inserted { world.fail("a local user is asked twice in one round") }
        if question.deadline > world.now.wall + .milliseconds(round.began + 120_000 - time) {
            world.fail("a round takes more than two minutes")
        }
        rounds[question.attempt] = round
        open = (handler, question, time + (question.deadline - world.now.wall).wholeMilliseconds)
    }

    /// Records a handler's answer to an open question.
    mutating func answered(_ question: RenewalQuestion, isUnable: Bool, _ world: Simulation) {
        // After any other answer, another handler may be asked.
        guard isUnable else { return quietUntil = nil }
        guard question.reason != .missing, open == nil else { return }
        if quietUntil.map({ $0 <= world.time }) ?? true { quietUsers = rounds[question.attempt]?.users ?? [] }
        quietUntil = world.time + 600_000
        world.coverage.note(.postponements)
    }
}
