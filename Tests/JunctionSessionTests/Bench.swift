import JunctionTesting

@testable import JunctionSession

/// A test bench of the machine: writes succeed at once, and provider calls wait for an answer from the test.
struct Bench {
    var machine: SessionMachine
    var now = Moment(wall: WallTime(milliseconds: 1_795_219_200_000), uptime: Uptime(milliseconds: 3_600_000))
    var life: Duration = .seconds(3_600)

    /// The answer to each request, by the number that `request()` returned.
    private(set) var replies: [UInt64: CallerAnswer] = [:]
    private var retries: [UInt64: Retry] = [:]
    private(set) var exchanges: [AttemptID] = []
    private(set) var authorizations: [AttemptID] = []
    private(set) var polls: [AttemptID] = []
    private(set) var renewals: [AttemptID] = []
    /// The registration checks.
    private(set) var checks: [AttemptID] = []
    private(set) var asked: [RequestID] = []
    private(set) var written: [SessionRecord] = []
    /// What each write was to do with the records that could not be opened.
    private(set) var unopened: [UnopenedRecords] = []
    /// The open questions to handlers, the latest last.
    private(set) var questions: [(handler: HandlerID, question: RenewalQuestion)] = []
    /// The handlers that were asked, in order.
    private(set) var everAsked: [HandlerID] = []
    /// The user of each revocation request, including retries.
    private(set) var revoked: [Identity] = []
    /// The user of the revocation in flight, which waits for `endRevocation`.
    private(set) var telling: Identity?
    /// The results of `resumeProviderCall` effects: true if the sign-in continues after the write of its grant, false if it has
    /// ended.
    private(set) var resumedExchanges: [Bool] = []
    private(set) var sentPartialRevocations: [SecretRef] = []
    /// The partial grants whose revocation was sent or waits.
    var revokedPartialGrants: [SecretRef] {
        let waiting = machine.revocations.list.filter { $0.identity == nil }.map(\.secrets)
        return sentPartialRevocations + waiting.filter { !sentPartialRevocations.contains($0) }
    }
    /// The provider's answer to each revocation of a partial grant. `nil`: it confirms.
    var partialRevocationFailure: Unavailability?
    /// The users whose revocation was interrupted.
    private(set) var interrupted: [Identity] = []
    /// The users whose revocation is pending.
    var waitingRevocations: [Identity] { machine.revocations.list.compactMap(\.identity) }
    private(set) var reports: [SessionEvent] = []
    /// Whether writes wait for `endWrite`.
    var holdsWrites = false
    private(set) var heldWrites: [(record: SessionRecord, secrets: SecretRef?)] = []
    var writeFailure: StoreFailure?
    /// The local user of each handler, by the handler's number.
    private var handlerOwners: [UInt64: UInt32] = [:]
    private var lastRequest: UInt64 = 0
    private var lastSecret: UInt64 = 0

    init(
        seed: UInt64 = 1,
        at moment: Moment? = nil,
        mode: RenewalMode = .automatic,
        handlerTimeout: Duration = .seconds(60),
        postponement: Duration = RenewalPolicy.shortestPostponement,
        callsPerMinute: Int = .max,
        isDurable: Bool = true,
        _ restoration: Restoration = .absent
    ) {
        if let moment { now = moment }
        machine = SessionMachine(
            provider: "junction",
            schemes: FakeProvider.allSchemes,
            sealedWith: "file",
            seed: seed,
            rules: RenewalRules(mode: mode, handlerTimeout: handlerTimeout, postponement: postponement),
            callsPerMinute: callsPerMinute
        )
        var codes: SecretRef?
        var partialGrants: [SecretRef] = []
        if case .restored(let record, _, _) = restoration {
            if record.deviceSignIn != nil { codes = secret() }
            for _ in record.partialGrants { partialGrants.append(secret()) }
        }
        let secrets = secret()
        perform(
            machine.restored(
                restoration,
                secrets: secrets,
                codes: codes,
                partialGrants: partialGrants,
                durable: isDurable,
                now: now
            )
        )
    }

    /// Advances both clocks without ringing the alarm.
    mutating func advance(by duration: Duration) {
        now = Moment(wall: now.wall + duration, uptime: now.uptime + duration)
    }

    /// Advances both clocks and rings the alarm.
    mutating func pass(_ duration: Duration) {
        advance(by: duration)
        perform(machine.alarmRang(now: now))
    }

    /// Advances both clocks to the alarm and rings it.
    mutating func passToAlarm() {
        guard let alarm = machine.nextAlarm(now: now) else { return }
        pass(alarm - now.wall)
    }

    /// Advances time until a poll leaves.
    mutating func passToPoll() {
        for _ in 0..<100 where polls.isEmpty { passToAlarm() }
    }

    /// Advances time until the next renewal is due.
    mutating func passToNextAttempt() { pass(facts.renewal.notBefore! - now.wall) }

    /// Steps the wall clock, as by a setting or a resume from suspend.
    mutating func stepWall(_ duration: Duration) {
        now.wall = now.wall + duration
        perform(machine.clockJumped(now: now))
    }

    mutating func grantExchange(of user: String = "alice", scheme: Scheme = .signInToken) {
        grant(exchanges.removeLast(), of: user, scheme: scheme)
    }

    /// Grants an exchange, whether or not it is still wanted.
    mutating func grant(_ attempt: AttemptID, of user: String, scheme: Scheme = .signInToken) {
        perform(machine.exchangeSucceeded(attempt, granted(user, scheme), now: now))
    }

    /// Grants a renewal, whether or not it is still wanted.
    mutating func grantLate(_ attempt: AttemptID, of user: String = "alice", scheme: Scheme = .signInToken) {
        perform(machine.renewalSucceeded(attempt, granted(user, scheme), now: now))
    }

    /// Returns a grant for this user, with a lifetime from now on.
    mutating func granted(_ user: String, _ scheme: Scheme = .signInToken, from start: Moment? = nil) -> Granted {
        let start = start ?? now
        let isEndless = now.wall + life >= .never
        let life = Life(start: start.uptime, end: isEndless ? nil : start.uptime + life)
        return Granted(
            identity: .user(user),
            scheme: scheme,
            life: scheme == .apiKey ? nil : life,
            secrets: secret()
        )
    }

    mutating func secret() -> SecretRef {
        lastSecret += 1
        return SecretRef(number: lastSecret)
    }

    mutating func endCheck(isKnown: Bool?) {
        guard let attempt = checks.last else { return }
        perform(machine.registrationChecked(attempt, isKnown: isKnown, now: now))
    }

    mutating func failLate(_ attempt: AttemptID) {
        perform(machine.renewalFailed(attempt, .unavailable(Unavailability("No answer")), now: now))
    }

    @discardableResult
    mutating func grantPartially() -> SecretRef {
        let grant = secret()
        if let attempt = exchanges.last ?? polls.last ?? renewals.last {
            perform(machine.partiallyGranted(attempt, grant, now: now))
        }
        return grant
    }

    /// Reports that an earlier attempt has spent the credential of the attempt in flight.
    mutating func findPartialGrant(_ grant: SecretRef) {
        if let attempt = exchanges.last ?? renewals.last {
            perform(machine.foundPartialGrant(attempt, grant, now: now))
        }
    }

    mutating func failExchange(_ failure: ExchangeFailure) {
        perform(machine.exchangeFailed(exchanges.removeLast(), failure, now: now))
    }

    mutating func giveCodes(interval: Duration = .seconds(5), life: Duration = .seconds(600)) {
        let life = Life(from: now, lasting: life)
        let attempt = authorizations.removeLast()
        let caller = LocalCaller(user: 1_000)
        perform(machine.deviceSignInBegan(attempt, secret(), life: life, interval: interval, by: caller, now: now))
    }

    mutating func failPoll(_ failure: PollFailure) {
        perform(machine.pollFailed(polls.removeLast(), failure, now: now))
    }

    mutating func grantPoll(by user: String = "alice") {
        grant(polls.removeLast(), of: user, scheme: .device)
    }

    mutating func grantRenewal(scheme: Scheme = .signInToken) {
        grantLate(renewals.removeLast(), of: facts.userId ?? "alice", scheme: scheme)
    }

    /// Answers a renewal with a new refresh token and no usable access token.
    mutating func grantSuccessor() {
        fallShort(renewals.removeLast())
    }

    mutating func fallShort(_ attempt: AttemptID, of user: String = "alice") {
        let granted = Granted(
            identity: .user(user),
            scheme: .signInToken,
            life: nil,
            secrets: secret(),
            missingAccessToken: Unavailability("No access token")
        )
        perform(machine.renewalSucceeded(attempt, granted, now: now))
    }

    mutating func failRenewal(_ failure: RenewalFailure) {
        perform(machine.renewalFailed(renewals.removeLast(), failure, now: now))
    }

    /// Ends the revocation in flight, successfully or with a failure.
    mutating func endRevocation(_ failure: Unavailability? = nil) {
        precondition(telling != nil, "The provider is not being told of a sign-out")
        telling = nil
        perform(machine.revocationEnded(failure: failure, now: now))
    }

    mutating func endWrite(failure: StoreFailure? = nil) {
        let held = heldWrites.removeFirst()
        if failure == nil { written.append(held.record) }
        perform(machine.writeEnded(failure: failure, now: now))
    }

    /// Ends every write successfully, including those that follow.
    mutating func endWrites() {
        while !heldWrites.isEmpty { endWrite() }
    }

    // MARK: Session handlers

    /// Registers a handler.
    ///
    /// - Parameter uid: the handler's local user. Default: a user of its own.
    mutating func register(_ number: UInt64, of uid: UInt32? = nil) {
        handlerOwners[number] = uid ?? UInt32(number)
        perform(machine.handlerRegistered(handler(number), now: now))
    }

    mutating func unregister(_ number: UInt64) {
        questions.removeAll { $0.handler.number == number }
        perform(machine.handlerGone(handler(number), now: now))
    }

    private func handler(_ number: UInt64) -> HandlerID {
        HandlerID(number: number, uid: handlerOwners[number] ?? UInt32(number))
    }

    /// Answers the open question.
    mutating func answerQuestion(_ answer: HandlerReply) {
        let open = questions.removeLast()
        say(answer, from: open.handler.number, to: open.question.attempt)
    }

    /// Answers a question that may no longer be open.
    mutating func say(_ answer: HandlerReply, from number: UInt64, to attempt: AttemptID) {
        let named: HandlerAnswer =
            switch answer {
            case .renew: .renew
            case .credential: .secret(HandlerSecret(secret: secret()))
            case .signature: .secret(HandlerSecret(secret: secret(), isSpentByUse: true))
            case .unable: .unable
            }
        perform(machine.handlerAnswered(handler(number), attempt, named, now: now))
    }

    // MARK: Callers

    @discardableResult
    mutating func signIn(_ facts: CredentialFacts, by uid: UInt32 = 1_000) -> RequestID {
        let request = request()
        perform(machine.signInRequested(request, facts, by: uid, now: now))
        return request
    }

    mutating func withdrawRight(from request: RequestID) {
        perform(machine.rightWithdrawn(from: [request], now: now))
    }

    @discardableResult
    mutating func signOut(endsBootstrapCredential: Bool = false) -> RequestID {
        let request = request()
        perform(
            machine.signOutRequested(
                request,
                by: 1_000,
                endsBootstrapCredential: endsBootstrapCredential,
                now: now
            )
        )
        return request
    }

    @discardableResult
    mutating func waitToRetry(after retry: Retry, retryAfter: Duration? = nil) -> RequestID {
        let request = request()
        perform(machine.retryRequested(request, after: retry, retryAfter: retryAfter, now: now))
        return request
    }

    /// Returns the retry state with which the next attempt begins.
    func retry(of request: RequestID) -> Retry? { retries[request.number] }

    @discardableResult
    mutating func identify(_ externalUserId: ExternalUserId?) -> RequestID {
        let request = request()
        perform(
            machine.identifyRequested(request, externalUserId: externalUserId, by: 1_000, now: now)
        )
        return request
    }

    /// Identifies this user, and answers the question with this credential.
    @discardableResult
    mutating func identify(_ externalUserId: ExternalUserId?, answering facts: CredentialFacts) -> RequestID {
        let request = identify(externalUserId)
        answer(request, .success(facts))
        return request
    }

    mutating func answer(_ request: RequestID, _ answer: Result<CredentialFacts, SessionError>) {
        perform(machine.identifyAnswered(request, answer, now: now))
    }

    @discardableResult
    mutating func renew() -> RequestID {
        let request = request()
        perform(machine.renewRequested(request, by: 1_000, now: now))
        return request
    }

    @discardableResult
    mutating func token(validFor validity: Duration = .zero) -> RequestID {
        let request = request()
        perform(
            machine.tokenRequested(request, minimumValidity: validity, by: 1_000, now: now)
        )
        return request
    }

    @discardableResult
    mutating func rejected(_ generation: UInt64) -> RequestID {
        let request = request()
        perform(
            machine.authorizationRequested(request, replacing: generation, by: 1_000, now: now)
        )
        return request
    }

    // MARK: Queries

    func reply(to request: RequestID) -> CallerAnswer? { replies[request.number] }

    func error(of request: RequestID) -> SessionError? {
        if case .refused(let error) = replies[request.number] { error } else { nil }
    }

    func refusal(of request: RequestID) -> SessionError.Kind? { error(of: request)?.kind }
    func message(of request: RequestID) -> String? { error(of: request)?.message }
    func retryAfter(of request: RequestID) -> Duration? { error(of: request)?.retryAfter }

    func servedToken(to request: RequestID) -> TokenFacts? {
        if case .token(let token) = replies[request.number] { token } else { nil }
    }

    /// Returns the answer to a request that is made now.
    mutating func reply(to ask: (inout Bench) -> RequestID) -> CallerAnswer? {
        let request = ask(&self)
        return replies[request.number]
    }

    mutating func refusal(of ask: (inout Bench) -> RequestID) -> SessionError.Kind? {
        let request = ask(&self)
        return refusal(of: request)
    }

    var facts: Snapshot.Facts { machine.facts(now: now) }
    var state: SessionState { facts.state }

    private mutating func request() -> RequestID {
        lastRequest += 1
        return RequestID(number: lastRequest)
    }

    mutating func perform(_ effects: [Effect]) {
        for effect in effects {
            switch effect {
            case .exchange(let attempt, _, _, _): exchanges.append(attempt)
            case .requestDeviceAuthorization(let attempt, _): authorizations.append(attempt)
            case .checkRegistration(let attempt, _, _): checks.append(attempt)
            case .poll(let attempt, _): polls.append(attempt)
            case .renew(let attempt, _, _, _): renewals.append(attempt)
            case .reply(let reply):
                precondition(replies[reply.request.number] == nil, "A request was answered twice")
                replies[reply.request.number] = CallerAnswer(reply.outcome)
                if case .success(.retry(let retry)) = reply.outcome { retries[reply.request.number] = retry }
            case .ask(let request, _): asked.append(request)
            case .askHandler(let handler, let question):
                questions = [(handler, question)]
                everAsked.append(handler)
            case .revoke(let identity?, _):
                precondition(telling == nil, "The provider is told of two sign-outs at once")
                telling = identity
                revoked.append(identity)
            case .revoke(nil, let grant):
                sentPartialRevocations.append(grant)
                perform(machine.revocationEnded(failure: partialRevocationFailure, now: now))
            case .resumeProviderCall(_, let isWanted): resumedExchanges.append(isWanted)
            case .interruptRevocation: interrupted += [telling].compactMap(\.self)
            case .report(let event): reports.append(event)
            case .write(let record, let secrets, _, _, let unopened):
                self.unopened.append(unopened)
                precondition(heldWrites.isEmpty, "Two writes were handed out at once")
                if holdsWrites {
                    heldWrites.append((record, secrets))
                } else {
                    if writeFailure == nil { written.append(record) }
                    perform(machine.writeEnded(failure: writeFailure, now: now))
                }
            }
        }
        let wanted = Set([machine.signIn.exchange?.attempt].compactMap(\.self))
        exchanges.removeAll { !wanted.contains($0) }
        authorizations.removeAll { !wanted.contains($0) }
        polls.removeAll { !wanted.contains($0) }
        renewals.removeAll { machine.renewal.sent($0) == nil }
    }
}
