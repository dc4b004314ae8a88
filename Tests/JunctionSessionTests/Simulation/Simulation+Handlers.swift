import JunctionSecret
import JunctionSession

/// A registered session handler.
struct Handler {
    var uid: UInt32
    var id: HandlerID?
}

/// The session handlers: their answers are valid, invalid, late, repeated, or missing.
extension Simulation {
    func changeHandlers() {
        guard mode == .handler || chance(4) == 0 else { return }
        if handlers.isEmpty || chance(3) > 0 {
            register()
        } else {
            unregister(handlers.keys.sorted()[chance(handlers.count)])
        }
    }

    func register() {
        let number = newNumber()
        // A few local users have many handlers.
        let uid = UInt32(1_000 + number % 3)
        handlers[number] = Handler(uid: uid)
        let life = life!
        on { owner in
            // The first question may come before this call returns.
            let id = owner.register(handlerOf: uid) { [self] question in
                if !life.isOver { asked(number, question) }
            }
            handlers[number]?.id = id
        }
    }

    private func unregister(_ number: Int) {
        guard let id = handlers.removeValue(forKey: number)?.id else { return }
        if model.open?.handler == number { model.open = nil }
        on { $0.unregister(id) }
    }

    private func asked(_ number: Int, _ question: RenewalQuestion) {
        log("handler \(number) is asked: \(question)")
        guard let handler = handlers[number] else { return fail("a handler was asked that is gone") }
        model.asks(number, handler.uid, question, self)
        // Some handlers never answer, so that only the deadline ends the question.
        if !isHealed, chance(8) == 0 { return coverage.note(.silentHandlers) }
        plan(.handlerAnswers(number, question), after: Int64(chance(isHealed ? 100 : 75_000)))
    }

    /// Answers a question: valid, unable, with a refused secret, by disconnecting, for another question, or twice.
    func answerAsHandler(_ number: Int, _ question: RenewalQuestion) {
        guard let id = handlers[number]?.id else { return }
        if now.wall > question.deadline { coverage.note(.lateHandlers) }
        let answer = answer(question)
        // A renewal waits for its turn while a sign-in asks.
        if !isHealed, question.reason == .missing { requestRenewal() }
        if !isHealed, chance(8) == 0 {
            coverage.note(.handlersVanished)
            return unregister(number)
        }
        if !isHealed, chance(10) == 0 {
            let other = AttemptID(number: question.attempt.number &+ 1_000)
            on { $0.answered(id, other, answer) }
        }
        let open = model.open
        let isOpen = open.map { $0.handler == number && $0.question == question && time < $0.until } ?? false
        if open?.handler == number, open?.question == question { model.open = nil }
        on { $0.answered(id, question.attempt, answer) }
        if isOpen { model.answered(question, isUnable: answer == nil, self) }
        if chance(4) == 0 { on { $0.answered(id, question.attempt, nil) } }
    }

    private func answer(_ question: RenewalQuestion) -> RenewalAnswer? {
        let user = question.userId ?? Self.users[chance(2)]
        let isGood = isHealed || chance(question.reason == .missing ? 2 : 4) > 0
        // The number of a good secret is odd.
        let secret = self.secret("given:\(user):\(newNumber() * 2 + (isGood ? 1 : 0))")
        switch isHealed ? 1 : chance(9) {
        case 0, 1, 2: return question.reason == .missing ? .authToken(secret) : .renew
        case 3, 4: return .authToken(secret)
        case 5: return .signature(secret, sequence: UInt64(newNumber()))
        default: return nil
        }
    }
}
