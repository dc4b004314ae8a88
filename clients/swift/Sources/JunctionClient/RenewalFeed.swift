package import JunctionJSON
package import JunctionProtocol

/// The daemon's questions to a session handler, across restarts of the daemon, for one thread.
///
/// The feed is a session handler from the first call of `next` until the feed is released.
package struct RenewalFeed {
    private var reconnection: Reconnection
    private var connection: Connection?

    /// Makes a feed from the daemon at `path`. Waits end when the interruption comes.
    package init(from path: SocketPath, patience: Patience, unless interruption: Interruption? = nil) {
        reconnection = Reconnection(to: path, patience: patience, unless: interruption)
    }

    /// Waits for the next renewal that the daemon asks about. The answer to an earlier one is no longer needed then.
    ///
    /// - Parameters:
    ///   - deadline: the time until which the registration must have succeeded. There is no limit for the question
    ///     itself, or for the daemon to come back.
    ///   - connectionEnded: called at once when the connection is lost, so that a pending answer is no longer needed.
    ///   - registered: called with the daemon's answer after each registration.
    /// - Throws: `cancelled` when the interruption comes, and errors that a new connection would not change.
    package mutating func next(
        registeredBy deadline: Deadline = .never,
        _ connectionEnded: () -> Void = {},
        registered: (HandlerRegister.Answer) -> Void = { _ in }
    ) throws(JunctionError) -> RenewalQuestion {
        var deadline = deadline
        while true {
            do throws(JunctionError) {
                if connection == nil { registered(try register(by: deadline)) }
                deadline = .never
                if let request = try connection?.nextRequest(), let question = RenewalQuestion(request) {
                    return question
                }
            } catch {
                if connection != nil { connectionEnded() }
                connection = nil
                try reconnection.wait(after: error, by: deadline)
            }
        }
    }

    private mutating func register(by deadline: Deadline) throws(JunctionError) -> HandlerRegister.Answer {
        var fresh = try reconnection.connect(by: deadline)
        // If a renewal waits for a handler, the question can come before the answer.
        let answer = try fresh.perform(HandlerRegister.self, NoParams(), by: deadline) { _ in nil }
        reconnection.connectionBegan()
        connection = fresh
        return answer.value
    }
}

/// The daemon's question about a renewal.
package struct RenewalQuestion: Sendable {
    /// The parameters of the question.
    package let request: RenewalRequest
    /// The parameters as they were received.
    package let json: JSONValue
    private let source: DaemonRequest

    /// Makes a question. Any other request is answered with an error, and the result is `nil`.
    init?(_ source: DaemonRequest) {
        guard source.call.name.stringEquals(SessionWillRenewAccessToken.name), let json = source.call.params else {
            source.respond(.failure(.methodNotFound))
            return nil
        }
        do throws(WireMismatch) {
            request = try RenewalRequest(reading: json)
        } catch {
            source.respond(.failure(.invalidParams(error)))
            return nil
        }
        self.json = json
        self.source = source
    }

    /// Answers the daemon, from any thread. Only the first answer counts, and only until the deadline.
    package func answer(_ answer: RenewalAnswer) {
        source.respond(.success(answer))
    }
}
