package import JunctionJSON
package import JunctionProtocol

/// One connection for one thread: what is called here blocks until the daemon has answered.
///
/// `junctionctl` is built on it alone, because a program that lives for a millisecond has no use for concurrency.
package struct Connection {
    /// What the daemon answered, also as it stood on the wire.
    package struct Answered<Value> {
        package var value: Value
        package var json: JSONValue
    }

    /// Answers a request of the daemon's; it may ask something before it answers what it was asked.
    ///
    /// Nothing leaves the request for `nextRequest`.
    package typealias Responder = (Call) -> Result<any WireValue, WireError>?

    private let socket: UnixSocket
    private let interruption: Interruption?
    private var messages = MessageStream()
    private var lastId: Int64 = 0
    /// What came while something else was waited for.
    private var earlyNotifications: [Call] = []
    private var earlyRequests: [DaemonRequest] = []

    /// Connects to the daemon.
    package init(to path: SocketPath, by deadline: Deadline = .never) throws(JunctionError) {
        try self.init(to: path, by: deadline, unless: nil)
    }

    /// Connects to the daemon; every wait ends with `cancelled` when the interruption comes.
    init(
        to path: SocketPath,
        by deadline: Deadline = .never,
        unless interruption: Interruption?
    ) throws(JunctionError) {
        socket = try UnixSocket()
        self.interruption = interruption
        try socket.connect(to: path, by: deadline)
    }

    /// Asks the daemon, and waits for its answer.
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

    /// Asks the daemon something that this library need not know.
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
        // A daemon that hangs up may have said why before it did, so the reading side has the last word.
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
            // An error that names no request is about this connection.
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
                // The caller hears that nothing came of the call, so its late credential must not sign a user in.
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

    /// Waits for the next thing that the daemon tells without being asked.
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

    /// Waits for the next thing that the daemon asks.
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

    /// - Parameter atEnd: what it means that the daemon says nothing more.
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
    /// Asks the daemon one thing on a connection of its own; while it restarts, again where that is harmless.
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

extension Answer {
    /// Whether the daemon complains without naming a request: there are too many connections, or a line is too long.
    var isAboutConnection: Bool {
        if case .failure = outcome { id.number == nil } else { false }
    }
}

extension Connection.Answered where Value: WireValue {
    /// Reads what a method answers.
    init(reading json: JSONValue) throws(JunctionError) {
        do throws(WireMismatch) {
            self.init(value: try Value(reading: json), json: json)
        } catch {
            throw .unreadable(error)
        }
    }
}
