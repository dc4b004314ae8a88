import JunctionProtocol
import JunctionSecret
import JunctionSession
import NIOCore

/// The session that calls are about, and the daemon's information and observer.
final class ServedSession {
    let owner: SessionOwner
    let introspection: any DaemonIntrospection
    let observer: any ServerObserver

    init(owner: SessionOwner, introspection: any DaemonIntrospection, observer: any ServerObserver) {
        (self.owner, self.introspection, self.observer) = (owner, introspection, observer)
    }
}

/// Takes every call through the same steps: check the right, decode, call the owner, encode.
///
/// The checks have a fixed order (form, method, capability, limits, parameters, state), so that a caller without the
/// capability learns nothing else. If the daemon could not start, `startError` comes before all of them but the form.
/// The methods are in extensions, one file for each group.
final class Dispatcher {
    /// The error that answers each call if the daemon could not start. There is no session then, and only
    /// `daemon.reload` is carried out.
    var startError: WireError?
    /// Logs a sentence about a credential that a unit did not get, while there is no session.
    var startCredentialRefused: (@Sendable (String) -> Void)?
    /// Reads the configuration again if the daemon could not start.
    var startReload: Reload?
    typealias Reload = @Sendable (_ answer: @escaping @Sendable (Result<[String], WireError>) -> Void) -> Void
    private let session: ServedSession?
    let eventLoop: any EventLoop
    let timeouts: ServerSettings.Timeouts
    let limits: CallerLimits
    let answers: AnswerReservations
    var exposesApi: Bool

    let scheduler: RoundRobinScheduler
    let watchers = Watchers<Connection>()
    /// The HTTP connections that receive every new state.
    let httpWatchers = Watchers<HTTPConnection>()
    let pendingCredentials: PendingCredentials
    let handlers: SessionHandlers
    let prepared = PreparedAnswers()
    var counters = ServerCounters()
    var unitCounters = UnitCounters()

    // One reader for all connections. It releases a line before it reads the next one.
    private let reader = MessageReader()
    private var spareBuffer: [UInt8] = []

    /// A larger buffer is not kept.
    private static let largestSpareBuffer = 1 << 16

    init(_ session: ServedSession?, settings: ServerSettings, eventLoop: any EventLoop) {
        self.session = session
        self.eventLoop = eventLoop
        scheduler = RoundRobinScheduler(eventLoop)
        pendingCredentials = PendingCredentials(eventLoop)
        handlers = SessionHandlers(eventLoop)
        (timeouts, limits) = (settings.timeouts, settings.limits)
        answers = AnswerReservations(settings.limits, eventLoop)
        exposesApi = settings.exposesApi
    }

    // MARK: The session

    var owner: SessionOwner { servedSession.owner }
    var introspection: any DaemonIntrospection { servedSession.introspection }
    var observer: any ServerObserver { servedSession.observer }

    private var servedSession: ServedSession {
        guard let session else { preconditionFailure("A call is carried out by a daemon that could not start") }
        return session
    }

    func turnedAway(_ peer: Peer?) {
        counters.turnedAwayConnections += 1
        session?.observer.happened(.turnedAway, by: peer)
    }

    func refusedCredential(_ name: String?, to peer: Peer, because message: String) {
        guard let session else {
            let credential = name ?? "(unknown)"
            startCredentialRefused?("Unit \(peer.unit ?? "unknown") got no credential \(credential): \(message)")
            return
        }
        session.observer.happened(.credentialRefused(name, message), by: peer)
    }

    // MARK: Messages

    func handle(_ line: UnsafeRawBufferPointer, from connection: Connection) {
        switch reader.read(line) {
        case .single(let message): handle(message, from: connection, in: nil)
        case .batch(let batch): handle(batch, from: connection)
        }
        reader.forget()
    }

    private func handle(_ messages: Batch, from connection: Connection) {
        guard !messages.dropFirst(BatchAnswers.mostMessages).contains(where: { _ in true }) else {
            let error = WireError.notAMessage("a batch holds at most \(BatchAnswers.mostMessages) messages")
            return Request(connection: connection, id: .null, batch: nil).fail(error)
        }
        let batch = BatchAnswers()
        connection.batchBegan(batch)
        for message in messages { handle(message, from: connection, in: batch) }
        batch.oneLess(connection)
    }

    private func handle(_ message: Message, from connection: Connection, in batch: BatchAnswers?) {
        switch message {
        case .request(let call, let id):
            batch?.expectAnswer()
            let request = Request(connection: connection, id: id, batch: batch, size: call.size)
            if batch?.isFull == true { request.fail(.batchTooLarge) } else { perform(call, request) }
        case .notification(let call):
            guard batch?.isFull != true, Method(call.name)?.definition.onlyAnswers != true else { return }
            perform(call, Request(connection: connection, id: nil, batch: batch, size: call.size))
        case .answer(let answer):
            connection.questions?.received(answer)
        case .invalid(let error, let id):
            batch?.expectAnswer()
            Request(connection: connection, id: id, batch: batch).fail(error)
        }
    }

    // MARK: Calls

    private func perform(_ call: Call, _ request: Request) {
        if session == nil, let startError {
            let isReload = Method(call.name) == .daemonReload && request.caller.may(.manage)
            guard isReload, let startReload else { return request.fail(startError) }
            return startReload(reloadAnswer(to: request))
        }
        guard let method = Method(call.name) else { return request.fail(.methodNotFound) }
        if let error = admit(method, of: request.caller) { return request.fail(error) }
        do throws(WireMismatch) {
            try perform(method, call, request)
        } catch {
            request.fail(.invalidParams(error))
        }
    }

    /// Counts the call. Returns an error if the rights or the limits of the caller do not allow it.
    func admit(_ method: Method, of caller: Caller) -> WireError? {
        counters.count(method)
        if let denial = denial(of: method, to: caller) { return denial }
        // A sign-out works beside any other requests of the user.
        let reserve = method == .sessionSignOut ? CallerLimits.signOuts : 0
        if caller.account.inFlight >= limits.inFlight + reserve { return .tooManyRequests }
        return caller.account.accepted >= limits.accepted ? .tooMuchAsked : nil
    }

    /// Returns an error if the caller must not call the method now. Counts and logs a missing right, unless it is missing
    /// only because the caller has disconnected. Does not count or log that the API is not exposed.
    func denial(of method: Method, to caller: Caller) -> WireError? {
        guard let capability = method.capability, !caller.may(capability) else {
            return method == .apiRequest && !exposesApi ? .apiNotExposed : nil
        }
        if caller.isConnected || !caller.policyAllows(capability) {
            counters.refusals += 1
            observer.happened(.refused(method, lacking: capability), by: caller.peer)
        }
        return .denied(capability, remedy: caller.remedy(lacking: capability))
    }

    private func perform(_ method: Method, _ call: Call, _ request: Request) throws(WireMismatch) {
        switch method {
        case .tokenGet: getToken(request, try call.decoded(TokenGet.self))
        case .sessionStatus: status(request, try call.decoded(SessionStatus.self))
        case .apiRequest: callApi(request, try call.params(ApiCall.self))
        case .sessionSubscribe: subscribe(request, try call.params(SessionSubscribe.self))
        case .sessionUnsubscribe: unsubscribe(request, try call.params(SessionUnsubscribe.self))
        case .sessionSignIn: signIn(request, try call.params(SessionSignIn.self))
        case .sessionSignOut: signOut(request, try call.params(SessionSignOut.self))
        case .sessionIdentify: try identify(request, try call.params(SessionIdentify.self))
        case .sessionReconcile: reconcile(request, try call.params(SessionReconcile.self))
        case .sessionRenew: renew(request, try call.params(SessionRenew.self))
        case .sessionAuthorizationPage:
            try authorizationPage(request, try call.params(SessionAuthorizationPage.self))
        case .handlerRegister: registerHandler(request, try call.params(HandlerRegister.self))
        case .handlerUnregister: unregisterHandler(request, try call.params(HandlerUnregister.self))
        case .daemonInfo: info(request, try call.params(DaemonInfo.self))
        case .daemonMetrics: metrics(request, try call.params(DaemonMetrics.self))
        case .daemonReload: reload(request, try call.params(DaemonReload.self))
        case .daemonDiagnose: diagnose(request, try call.params(DaemonDiagnose.self))
        case .accessWhoami: whoami(request, try call.params(AccessWhoami.self))
        case .rpcDiscover: discover(request, try call.params(RpcDiscover.self))
        }
    }

    // MARK: Memory

    /// Lends memory for answers. There is one buffer, because answers are written and flushed one connection at a time.
    func takeBuffer() -> [UInt8] {
        var taken: [UInt8] = []
        swap(&taken, &spareBuffer)
        if taken.capacity == 0 { taken.reserveCapacity(4_096) }
        return taken
    }

    func recycle(_ buffer: consuming [UInt8]) {
        buffer.withUnsafeMutableBytes { wipe($0) }
        buffer.removeAll(keepingCapacity: true)
        if buffer.capacity <= Self.largestSpareBuffer { spareBuffer = buffer }
    }
}

extension Call {
    /// The parameters in the type that the method takes.
    fileprivate func params<Definition: MethodDefinition>(
        _: Definition.Type
    ) throws(WireMismatch) -> Definition.Params {
        try Definition.Params(reading: params)
    }

    /// The parameters, or `nil` if there are none. Frequent calls have none and pay nothing for decoding.
    fileprivate func decoded<Definition: MethodDefinition>(
        _: Definition.Type
    ) throws(WireMismatch) -> Definition.Params? {
        guard let params else { return nil }
        return try Definition.Params(reading: params)
    }
}

extension WireError {
    static let tooManyRequests = WireError(
        .busy,
        "Your user has as many requests without an answer as limits.inFlight allows: wait for some of the answers, or raise it",
        retryAfter: 1
    )
    static let tooMuchAsked = WireError(
        .busy,
        "The requests of your user that have no answer yet have reached the size limit: wait for some of the answers",
        retryAfter: 1
    )
    static let batchTooLarge = WireError(
        .busy,
        "The answers to this batch are larger than \(BatchAnswers.mostBytes) bytes already: ask this again by itself"
    )
    static let tooMuchWaits = WireError(
        .busy,
        "Your user has reached the limit of waiting data, and this connection holds the most: the daemon closes it. "
            + "Read the answers, and send less at a time",
        retryAfter: 1
    )
    static func lineTooSlow(_ limit: Duration) -> WireError {
        .notAMessage(
            "a line has to end within \(limit.components.seconds) s of its beginning; the connection is closed"
        )
    }
    static let tooManyConnections = WireError(
        .busy,
        "Your user has as many connections as it may: close some of them, or raise limits.connections",
        retryAfter: 1
    )
    static let apiNotExposed = WireError(
        .permissionDenied,
        "Calls to the API are switched off: set api.expose = true",
        remedy: "set api.expose = true in the daemon's configuration and reload it"
    )
}
