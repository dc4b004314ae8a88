import Glibc
package import JunctionJSON
package import JunctionProtocol

/// The questions to a session handler, over any restart of the daemon, for one thread that waits.
///
/// It is a session handler from the first call of `next` on, and until it goes.
package struct RenewalFeed {
    private var reconnection: Reconnection
    private var connection: Connection?

    /// Is asked by the daemon that listens at `path`, until the interruption comes.
    package init(from path: SocketPath, patience: Patience, unless interruption: Interruption? = nil) {
        reconnection = Reconnection(to: path, patience: patience, unless: interruption)
    }

    /// The next renewal that the daemon asks about. By then nobody waits for the answer to the one before.
    ///
    /// - Parameters:
    ///   - deadline: until when it has to be a handler; how long a question takes to come is nobody's to say, and neither is
    ///     how long the daemon takes to come back.
    ///   - connectionEnded: told at once when the daemon has gone, and with it whoever waited for an answer.
    ///   - registered: called with the daemon's answer whenever this has become a handler, on each connection.
    /// - Throws: `cancelled` when the interruption comes, and whatever a new connection would not change.
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
        // A renewal may have waited for a handler: the question can come before the answer does.
        let answer = try fresh.perform(HandlerRegister.self, NoParams(), by: deadline) { _ in nil }
        reconnection.connectionBegan()
        connection = fresh
        return answer.value
    }
}

/// A renewal that the daemon asks about.
package struct RenewalQuestion: Sendable {
    /// What it is about.
    package let request: RenewalRequest
    /// The same as it stood on the wire.
    package let json: JSONValue
    private let source: DaemonRequest

    /// A request that is no such question is answered at once: with an error.
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

    /// How long the daemon goes on waiting, by the wall clock that it shares with us, to the second.
    var timeLeft: Duration {
        let left = request.deadline.milliseconds - Int64(time(nil)) * 1000
        // No timer can count as far as a time on the wire.
        return .milliseconds(min(max(0, left), Self.longestWait))
    }

    private static let longestWait: Int64 = 86_400_000

    /// Tells the daemon, from any thread. Only the first answer counts, and only until the deadline.
    package func answer(_ answer: RenewalAnswer) {
        source.respond(.success(answer))
    }
}
