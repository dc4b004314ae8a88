/// The local apps that the daemon asks when a session is to be renewed.
extension SessionOwner {
    /// Whether session handlers are asked for renewals: of every session, or of none.
    package var asksHandlersToRenew: Bool {
        machine.rules.mode == .handler || machine.schemes.values.contains { $0.asksApps == .always }
    }

    /// Registers a session handler. The owner calls `ask` on its executor, with one question at a time.
    ///
    /// - Parameter uid: the local user who owns the handler's connection, as the kernel reports it.
    package func register(
        handlerOf uid: UInt32,
        asking ask: @escaping @Sendable (RenewalQuestion) -> Void
    ) -> HandlerID {
        lastHandler += 1
        let handler = HandlerID(number: lastHandler, uid: uid)
        handlers[handler] = ask
        handle { $0.handlerRegistered(handler, now: $1) }
        return handler
    }

    package func unregister(_ handler: HandlerID) {
        guard handlers.removeValue(forKey: handler) != nil else { return }
        handle { $0.handlerGone(handler, now: $1) }
    }

    /// Handles a handler's answer to a question. `nil` if the handler is unable or failed, or its answer is invalid.
    ///
    /// - Parameter words: the reason of a failure. The person who signs in sees its first line.
    package func answered(
        _ handler: HandlerID,
        _ attempt: AttemptID,
        _ answer: RenewalAnswer?,
        saying words: String? = nil
    ) {
        let named: HandlerAnswer =
            switch answer {
            case .renew: .renew
            case .authToken(let token): .secret(HandlerSecret(secret: secretStore.put(.answer(.authToken(token)))))
            case .signature(let signature, let sequence):
                .secret(
                    HandlerSecret(
                        secret: secretStore.put(.answer(.signature(signature, sequence: sequence))),
                        isSpentByUse: true
                    )
                )
            case nil: words?.firstWords.map(HandlerAnswer.failed) ?? .unable
            }
        handle { $0.handlerAnswered(handler, attempt, named, now: $1) }
    }
}

extension String {
    /// The first line without control characters, at most 200 characters. `nil` if it is empty.
    fileprivate var firstWords: String? {
        let line = prefix { !$0.isNewline }.unicodeScalars.filter { $0.properties.generalCategory != .control }
        let words = String(String.UnicodeScalarView(line.prefix(200)))
        return words.isEmpty ? nil : words
    }
}
