/// The local apps that are asked when a session is to be renewed.
extension SessionOwner {
    /// Registers a session handler; `ask` is called on the owner's executor, with one question at a time.
    ///
    /// - Parameter uid: the local user who owns the handler's connection, as the kernel names it.
    package func register(
        handlerOf uid: UInt32,
        asking ask: @escaping @Sendable (RenewalQuestion) -> Void
    ) -> HandlerID {
        lastHandler += 1
        let handler = HandlerID(number: lastHandler, uid: uid)
        handlers[handler] = ask
        let now = now
        apply(machine.handlerRegistered(handler, now: now), now)
        return handler
    }

    /// The handler no longer wants to be asked, or its connection is gone.
    package func unregister(_ handler: HandlerID) {
        guard handlers.removeValue(forKey: handler) != nil else { return }
        let now = now
        apply(machine.handlerGone(handler, now: now), now)
    }

    /// The handler's answer to a question; `nil` when it is unable, failed, or answered nonsense.
    ///
    /// - Parameter words: why it failed, where it says so; the first line of it is for the person who signs in.
    package func answered(
        _ handler: HandlerID,
        _ attempt: Attempt,
        _ answer: RenewalAnswer?,
        saying words: String? = nil
    ) {
        let now = now
        let said = answer == nil ? words?.firstWords : nil
        apply(machine.handlerAnswered(handler, attempt, said.map(HandlerAnswer.failed) ?? put(answer), now: now), now)
    }

    /// The answer as the machine sees it. What comes late, twice or unasked is let go of with the event.
    private func put(_ answer: RenewalAnswer?) -> HandlerAnswer {
        guard let answer else { return .unable }
        return switch answer {
        case .renew: .renew
        case .authToken: .authToken(shelf.put(answer))
        case .signature: .signature(shelf.put(answer))
        }
    }
}

extension String {
    /// What of an app's own words fits into a line for a person; nothing when there is none.
    fileprivate var firstWords: String? {
        let line = prefix { !$0.isNewline }.unicodeScalars.filter { $0.properties.generalCategory != .control }
        let words = String(String.UnicodeScalarView(line.prefix(200)))
        return words.isEmpty ? nil : words
    }
}

extension Credential {
    /// A registration that came without a token, with the one that a handler gave.
    func completed(with answer: RenewalAnswer?) -> Credential {
        guard case .registration(let userId, nil) = self, let answer else { return self }
        return switch answer {
        case .renew: self
        case .authToken(let token): .registration(userId: userId, token: token)
        case .signature(let signature, let sequence):
            .registrationSignature(userId: userId, signature: signature, sequence: sequence)
        }
    }
}
