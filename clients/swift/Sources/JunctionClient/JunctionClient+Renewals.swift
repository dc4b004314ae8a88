import JunctionProtocol

// Taking part in renewals.
extension JunctionClient {
    /// Is a session handler until the task is cancelled: the daemon asks it how to renew the access token.
    ///
    /// It goes on over restarts of the daemon; a daemon that is not there yet is waited for. In one round the daemon asks
    /// each local user once, by the handler that registered last.
    ///
    /// ```swift
    /// try await junction.handleRenewals { request in
    ///     .renewWithAuthToken(SecretText(try await backend.token(for: request.userId)))
    /// }
    /// ```
    ///
    /// - Parameter handler: called with each renewal. When it throws, it was unable, and is not asked again for ten
    ///   minutes. It is cancelled when nobody waits for its answer any more: at the deadline, when the daemon has gone,
    ///   and when it asks the next thing.
    /// - Throws: what a new connection would not change, like `permissionDenied`.
    public func handleRenewals(
        _ handler: @escaping @Sendable (RenewalRequest) async throws -> RenewalAnswer
    ) async throws(JunctionError) {
        var answering: Task<Void, Never>?
        var failure: JunctionError?
        for await turn in renewalTurns() {
            // The daemon asks one thing at a time: whoever still thinks about the last one does so in vain.
            answering?.cancel()
            switch turn {
            case .success(.question(let question)):
                answering = Task { await question.answer(with: handler) }
            case .success(.connectionEnded):
                continue
            case .failure(let error):
                failure = error
            }
        }
        answering?.cancel()
        await answering?.value
        if let failure { throw failure }
    }

    private func renewalTurns() -> AsyncStream<Result<RenewalTurn, JunctionError>> {
        .waitingOnThread { [path] interruption, found throws(JunctionError) in
            var feed = RenewalFeed(from: path, patience: .always, unless: interruption)
            while true { found(.question(try feed.next { found(.connectionEnded) })) }
        }
    }
}

/// What a session handler hears; each of them is the end of what it heard before.
private enum RenewalTurn: Sendable {
    case question(RenewalQuestion)
    case connectionEnded
}

extension RenewalQuestion {
    /// Has the handler answer, and cancels it at the deadline.
    fileprivate func answer(
        with handler: @escaping @Sendable (RenewalRequest) async throws -> RenewalAnswer
    ) async {
        await withTaskGroup { group in
            group.addTask { answer((try? await handler(request)) ?? .unableToRetrieveAuthToken) }
            group.addTask { try? await Task.sleep(for: timeLeft) }
            await group.next()
            group.cancelAll()
        }
    }
}
