package import JunctionJSON
package import JunctionProtocol

/// One connection for one thread. Each function blocks until the daemon has answered.
///
/// `junctionctl` uses only this type, because a program that runs for a millisecond does not need concurrency.
package struct Connection {
    /// The daemon's answer, decoded and as it was received.
    package struct Answered<Value> {
        package var value: Value
        package var json: JSONValue
    }

    /// Answers a request of the daemon, which may ask a question before it answers a call.
    ///
    /// `nil` leaves the request for `nextRequest`.
    package typealias Responder = (Call) -> Result<any WireValue, WireError>?

    private let socket: UnixSocket
    private let interruption: Interruption?
    private var messages = MessageStream()
    private var lastId: Int64 = 0
    /// The messages that came while the connection waited for others.
    private var earlyNotifications: [Call] = []
    private var earlyRequests: [DaemonRequest] = []

    /// Connects to the daemon.
    package init(to path: SocketPath, by deadline: Deadline = .never) throws(JunctionError) {
        try self.init(to: path, by: deadline, unless: nil)
    }

    /// Connects to the daemon. Every wait ends with `cancelled` when the interruption comes.
    init(
        to path: SocketPath,
        by deadline: Deadline = .never,
        unless interruption: Interruption?
    ) throws(JunctionError) {
        socket = try UnixSocket()
        self.interruption = interruption
        try socket.connect(to: path, by: deadline)
    }

    /// Sends a call and waits for its answer.
    package mutating func perform<Definition: MethodDefinition>(
        _ method: Definition.Type,
        _ params: Definition.Params,
        by deadline: Deadline = .never,
        answering respond: Responder = { _ in .failure(.methodNotFound) }
    ) throws(JunctionError) -> Answered<Definition.Answer> {
        lastId += 1
        let line = try OutgoingLine.request(method, params, id: lastId)
        return try Answered(reading: try answer(to: line, by: deadline, answering: respond))
    }

    /// Sends a call of any method and waits for its answer.
    package mutating func perform(
        _ method: String,
        _ params: JSONValue?,
        by deadline: Deadline = .never
    ) throws(JunctionError) -> JSONValue {
        lastId += 1
        let line = try OutgoingLine.request(method, params, id: lastId)
        return try answer(to: line, by: deadline) { _ in .failure(.methodNotFound) }
    }

    private mutating func answer(
        to line: WipedBuffer,
        by deadline: Deadline,
        answering respond: Responder
    ) throws(JunctionError) -> JSONValue {
        // A daemon that closes the connection may have sent the reason before. So the connection is read even if
        // sending has failed.
        let wasSent: Bool
        do throws(JunctionError) {
            try socket.send(line, by: deadline)
            wasSent = true
        } catch {
            guard error.kind != .timedOut else { throw error }
            wasSent = false
        }
        while true {
            switch try nextMessage(by: deadline, wasSent ? .connectionLost : .notTaken) {
            // An error without a request id is about this connection.
            case .answer(let answer) where answer.id.number == lastId || answer.isAboutConnection:
                return try answer.outcome.mapError(JunctionError.init).get()
            case .answer:
                continue
            case .notification(let call):
                earlyNotifications.append(call)
            case .request(let call, let id):
                let request = DaemonRequest(call, id, on: socket)
                guard let response = respond(call) else {
                    earlyRequests.append(request)
                    continue
                }
                // The call has failed for the app, so its late credential must not sign a user in.
                guard !deadline.hasPassed else {
                    request.respond(.failure(WireError(.invalidCredential, "The app no longer waits for this sign-in")))
                    throw .timedOut
                }
                request.respond(response)
            case .invalid(let error, _):
                throw .unreadable(error.message)
            }
        }
    }

    /// Waits for the next notification of the daemon.
    package mutating func nextNotification(by deadline: Deadline = .never) throws(JunctionError) -> Call {
        if !earlyNotifications.isEmpty { return earlyNotifications.removeFirst() }
        while true {
            switch try nextMessage(by: deadline) {
            case .notification(let call): return call
            case .answer: continue
            case .request(let call, let id): DaemonRequest(call, id, on: socket).respond(.failure(.methodNotFound))
            case .invalid(let error, _): throw .unreadable(error.message)
            }
        }
    }

    /// Waits for the next request of the daemon.
    mutating func nextRequest(by deadline: Deadline = .never) throws(JunctionError) -> DaemonRequest {
        if !earlyRequests.isEmpty { return earlyRequests.removeFirst() }
        while true {
            switch try nextMessage(by: deadline) {
            case .request(let call, let id): return DaemonRequest(call, id, on: socket)
            case .answer(let answer):
                if answer.isAboutConnection, case .failure(let error) = answer.outcome { throw JunctionError(error) }
            case .notification: continue
            case .invalid(let error, _): throw .unreadable(error.message)
            }
        }
    }

    /// - Parameter atEnd: the error if the daemon has ended the connection.
    private mutating func nextMessage(
        by deadline: Deadline,
        _ atEnd: JunctionError = .connectionLost
    ) throws(JunctionError) -> Message {
        while true {
            if let message = try messages.next() { return message }
            if deadline != .never || interruption != nil {
                try waitForInput(from: socket, until: deadline, unless: interruption)
            }
            do throws(JunctionError) {
                guard try messages.receive(from: socket) else { throw .connectionLost }
            } catch {
                throw error.kind == .connectionLost ? atEnd : error
            }
        }
    }
}

extension Connection {
    /// Makes one call on a separate connection. While the daemon restarts, the call is repeated where that is harmless.
    package static func ask<Definition: MethodDefinition>(
        _ method: Definition.Type,
        _ params: Definition.Params,
        at path: SocketPath,
        by deadline: Deadline = .never,
        answering respond: Responder = { _ in .failure(.methodNotFound) }
    ) throws(JunctionError) -> Answered<Definition.Answer> {
        var repetition = Repetition(of: method, params)
        while true {
            do throws(JunctionError) {
                var connection = try Connection(to: path, by: deadline)
                return try connection.perform(method, params, by: deadline) { question in
                    repetition.daemonAsked()
                    return respond(question)
                }
            } catch {
                guard !deadline.hasPassed, let pause = repetition.pause(after: error) else { throw error }
                try? waitForInput(from: nil, until: .after(pause), unless: nil)
            }
        }
    }
}

extension Response {
    /// Whether this error is about the connection and names no request: there are too many connections, or a line is
    /// too long.
    var isAboutConnection: Bool {
        if case .failure = outcome { id.number == nil } else { false }
    }
}

extension Connection.Answered where Value: WireValue {
    /// Reads the answer of a method.
    init(reading json: JSONValue) throws(JunctionError) {
        do throws(WireMismatch) {
            self.init(value: try Value(reading: json), json: json)
        } catch {
            throw .unreadable(error)
        }
    }
}
