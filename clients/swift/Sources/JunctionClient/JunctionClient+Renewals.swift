import JunctionProtocol

extension JunctionClient {
    /// Acts as a session handler until the task is cancelled: the daemon asks it how to renew the access token.
    ///
    /// The handler stays registered across restarts of the daemon, and waits for a daemon that does not run yet. In one
    /// round, the daemon asks each local user once, through the handler that registered last.
    ///
    /// ```swift
    /// try await junction.handleRenewals { request in
    ///     .renewWithAuthToken(SecretText(try await backend.token(for: request.userId)))
    /// }
    /// ```
    ///
    /// - Parameter handler: called for each renewal. If it throws, it counts as unable, and is not asked again for ten
    ///   minutes. It is cancelled when its answer is no longer needed: at the deadline, when the daemon has gone, and
    ///   when the daemon asks the next question.
    /// - Throws: errors that a new connection would not change, such as `permissionDenied`.
    public func handleRenewals(
        _ handler: @escaping @Sendable (RenewalRequest) async throws -> RenewalAnswer
    ) async throws(JunctionError) {
        var answering: Task<Void, Never>?
        var failure: JunctionError?
        for await turn in renewalTurns() {
            // The daemon asks one question at a time, so the answer to an earlier one is no longer needed.
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

    /// Returns the questions that a separate thread waits for, until the task is cancelled or the wait fails. A slow
    /// task receives only the newest event.
    private func renewalTurns() -> AsyncStream<Result<RenewalTurn, JunctionError>> {
        let (turns, continuation) = AsyncStream<Result<RenewalTurn, JunctionError>>
            .makeStream(bufferingPolicy: .bufferingNewest(1))
        do throws(JunctionError) {
            let wakeUp = try WakeUpDescriptor()
            continuation.onTermination = { _ in wakeUp.ring() }
            try startThread { [path] in
                var feed = RenewalFeed(from: path, patience: .always, unless: .ringing(wakeUp))
                do throws(JunctionError) {
                    while true {
                        let question = try feed.next { continuation.yield(.success(.connectionEnded)) }
                        continuation.yield(.success(.question(question)))
                    }
                } catch {
                    if error.kind != .cancelled { continuation.yield(.failure(error)) }
                }
                continuation.finish()
            }
        } catch {
            continuation.yield(.failure(error))
            continuation.finish()
        }
        return turns
    }
}

/// An event for a session handler. Each event ends the question before it.
private enum RenewalTurn: Sendable {
    case question(RenewalQuestion)
    case connectionEnded
}

extension RenewalQuestion {
    /// Calls the handler for the answer, and cancels it at the deadline.
    fileprivate func answer(
        with handler: @escaping @Sendable (RenewalRequest) async throws -> RenewalAnswer
    ) async {
        await withTaskGroup { group in
            group.addTask { answer((try? await handler(request)) ?? .unableToRetrieveAuthToken) }
            group.addTask { try? await Task.sleep(until: ContinuousClock.Instant(request.deadline)) }
            await group.next()
            group.cancelAll()
        }
    }
}
