import JunctionTesting

@testable import JunctionSession

/// Explores every short sequence of events from one situation. Its state is a machine, the requests in flight, and the
/// disk.
///
/// The machine's seed is fixed, and time moves from alarm to alarm. Requests are numbered by their content. Two orders
/// of events with the same result are therefore the same state, which is explored once.
struct Exploration: Hashable {
    struct Broken: Error {
        var description: String
    }

    enum Event: Int, CaseIterable {
        case signInAlice, signInBob, signOut, identifyBob, appAnswersAlice, appAnswersBob, appRefuses
        case renew, token, longToken, rejected
        case exchangeGranted, exchangeUnavailable, exchangeRefused, overtakenGranted
        case renewalGranted, renewalSucceededWithoutAccessToken, renewalBusy, renewalLost, renewalReauthentication,
            renewalTerminated,
            renewalAnswerRefused
        case writeSucceeds, writeFails
        case handlerRegisters, handlerGoes, handlerSaysRenew, handlerGives, handlerIsUnable
        case alarm, clockAhead, clockBehind, revocationEnds, crash
        case signInByDevice, appAnswersDevice, codesGiven, pollUndecided, pollTooFast, pollLost, pollDenied
        case pollGrantedAlice, pollGrantedBob
    }

    struct Secret: Hashable {
        var owner: String
        var number: UInt64
    }

    struct Write: Hashable {
        var record: SessionRecord
        var secret: Secret?
        var codes: Secret?
    }

    private(set) var machine: SessionMachine
    private(set) var now = Moment(
        wall: WallTime(milliseconds: 1_795_219_200_000),
        uptime: Uptime(milliseconds: 3_600_000)
    )
    private let mode: RenewalMode
    private let scheme: Scheme
    private var secretStore: [SecretRef: Secret] = [:]
    private var disk: Write?
    private var write: Write?
    private var exchange: AttemptID?
    private var exchangeUser = "alice"
    private var overtaken: AttemptID?
    private var renewal: (AttemptID)?
    private var renewalOwner = "alice"
    private var authorizing: AttemptID?
    private var poll: AttemptID?
    private var asked: RequestID?
    private var question: AttemptID?
    private var askedHandler: HandlerID?
    private var handler: HandlerID?
    private var isRevoking = false
    private var waiting: Set<RequestID> = []
    private var wanted: [RequestID: String] = [:]
    private var counts: [Int] = Array(repeating: 0, count: Event.allCases.count)
    private var secrets: UInt64 = 0

    init(mode: RenewalMode, scheme: Scheme = .signInToken) throws(Broken) {
        self.mode = mode
        self.scheme = scheme
        machine = SessionMachine(
            provider: "junction",
            schemes: FakeProvider.allSchemes,
            sealedWith: "file",
            seed: 1,
            rules: RenewalRules(mode: mode)
        )
        try perform(machine.restored(.absent, secrets: put("nobody"), now: now))
    }

    func after(_ events: Event...) throws(Broken) -> Exploration {
        var next = self
        for event in events where next.isPossible(event) { try next.happen(event) }
        return next
    }

    // MARK: Events

    func isPossible(_ event: Event) -> Bool {
        switch event {
        case .signInAlice, .signInBob, .signOut, .identifyBob, .renew, .token, .longToken, .rejected: count(event) < 2
        case .signInByDevice: count(event) < 2
        case .appAnswersDevice: asked != nil
        case .codesGiven: authorizing != nil
        case .pollUndecided, .pollTooFast, .pollLost, .pollDenied, .pollGrantedAlice, .pollGrantedBob: poll != nil
        case .crash, .clockAhead, .clockBehind: count(event) < 1
        case .appAnswersAlice, .appAnswersBob, .appRefuses: asked != nil
        case .exchangeGranted: exchange != nil
        case .exchangeUnavailable, .exchangeRefused: exchange != nil || authorizing != nil
        case .overtakenGranted: overtaken != nil
        case .renewalGranted, .renewalSucceededWithoutAccessToken, .renewalBusy, .renewalLost, .renewalReauthentication,
            .renewalTerminated:
            renewal != nil
        case .renewalAnswerRefused: renewal != nil && mode == .handler
        case .writeSucceeds, .writeFails: write != nil
        case .handlerRegisters: handler == nil && mode == .handler
        case .handlerGoes: handler != nil
        case .handlerSaysRenew, .handlerGives, .handlerIsUnable: question != nil && askedHandler == handler
        case .alarm: machine.nextAlarm(now: now) != nil
        case .revocationEnds: isRevoking
        }
    }

    private func count(_ event: Event) -> Int { counts[event.rawValue] }

    private mutating func request(_ event: Event) -> RequestID {
        let id = RequestID(number: UInt64(event.rawValue * 100 + count(event)))
        waiting.insert(id)
        return id
    }

    mutating func happen(_ event: Event) throws(Broken) {
        counts[event.rawValue] += 1
        switch event {
        case .signInAlice: try signIn(event, "alice")
        case .signInBob: try signIn(event, "bob")
        case .signOut: try perform(machine.signOutRequested(request(event), by: 1_000, now: now))
        case .identifyBob:
            let request = request(event)
            try perform(machine.identifyRequested(request, externalUserId: "ext-bob", by: 1_000, now: now))
        case .appAnswersAlice: try answer("alice")
        case .appAnswersBob: try answer("bob")
        case .appRefuses:
            guard let request = asked else { return }
            asked = nil
            let refusal = SessionError(.invalidCredential, "No credential")
            try perform(machine.identifyAnswered(request, .failure(refusal), now: now))
        case .renew: try perform(machine.renewRequested(request(event), by: 1_000, now: now))
        case .token: try token(event, .zero)
        case .longToken: try token(event, .seconds(2_000))
        case .rejected:
            let generation = machine.installation.session?.token?.generation ?? 0
            let request = request(event)
            try perform(machine.authorizationRequested(request, replacing: generation, by: 1_000, now: now))
        case .exchangeGranted: try endExchange { .success($0.granted($0.exchangeUser)) }
        case .exchangeUnavailable: try endExchange { _ in .failure(.unavailable(Unavailability("No answer"))) }
        case .exchangeRefused: try endExchange { _ in .failure(.refused("no")) }
        case .overtakenGranted:
            guard let attempt = overtaken else { return }
            overtaken = nil
            try perform(machine.exchangeSucceeded(attempt, granted("alice"), now: now))
        case .renewalGranted: try endRenewal { .success($0.granted($0.renewalOwner)) }
        case .renewalSucceededWithoutAccessToken: try fallShort()
        case .renewalBusy: try endRenewal { _ in .failure(.unavailable(Unavailability("Busy"))) }
        case .renewalLost: try endRenewal { _ in .failure(.unavailable(Unavailability("Lost", ambiguous: true))) }
        case .renewalReauthentication: try endRenewal { _ in .failure(.reauthenticationRequired) }
        case .renewalTerminated: try endRenewal { _ in .failure(.terminated(code: "invalid_token", message: "Gone")) }
        case .renewalAnswerRefused: try endRenewal { _ in .failure(.answerRefused("It is used up")) }
        case .writeSucceeds: try endWrite(failure: nil)
        case .writeFails: try endWrite(failure: StoreFailure("No space left on device"))
        case .handlerRegisters:
            let id = HandlerID(number: UInt64(count(event)), uid: 1_000)
            handler = id
            try perform(machine.handlerRegistered(id, now: now))
        case .handlerGoes:
            guard let gone = handler else { return }
            handler = nil
            try perform(machine.handlerGone(gone, now: now))
        case .handlerSaysRenew: try answerQuestion(.renew)
        case .handlerGives: try answerQuestion(.secret(HandlerSecret(secret: put(machine.identity?.userId ?? "alice"))))
        case .handlerIsUnable: try answerQuestion(.unable)
        case .alarm: try ring()
        case .clockAhead: try step(.seconds(7_200))
        case .clockBehind: try step(.seconds(-7_200))
        case .revocationEnds:
            isRevoking = false
            try perform(machine.revocationEnded(failure: nil, now: now))
        case .crash: try crash()
        case .signInByDevice:
            try perform(machine.signInRequested(request(event), .device, by: 1_000, now: now))
        case .appAnswersDevice:
            guard let request = asked else { return }
            asked = nil
            try perform(machine.identifyAnswered(request, .success(.device), now: now))
        case .codesGiven:
            guard let attempt = authorizing else { return }
            authorizing = nil
            let life = Life(from: now, lasting: .seconds(600))
            try perform(machine.deviceSignInBegan(attempt, put("codes"), life: life, interval: .seconds(5), now: now))
        case .pollUndecided: try endPoll(.pending())
        case .pollTooFast: try endPoll(.slowDown())
        case .pollLost: try endPoll(.unavailable(Unavailability("Lost", ambiguous: true)))
        case .pollDenied: try endPoll(.denied)
        case .pollGrantedAlice: try grantPoll(by: "alice")
        case .pollGrantedBob: try grantPoll(by: "bob")
        }
        try check()
    }

    private mutating func endPoll(_ failure: PollFailure) throws(Broken) {
        guard let attempt = poll else { return }
        poll = nil
        try perform(machine.pollFailed(attempt, failure, now: now))
    }

    private mutating func grantPoll(by user: String) throws(Broken) {
        guard let attempt = poll else { return }
        poll = nil
        try perform(machine.exchangeSucceeded(attempt, granted(user), now: now))
    }

    private mutating func signIn(_ event: Event, _ user: String) throws(Broken) {
        let request = request(event)
        wanted[request] = user
        let facts = CredentialFacts(scheme: scheme, subject: .user(.user(user)))
        try perform(machine.signInRequested(request, facts, by: 1_000, now: now))
    }

    private mutating func answer(_ user: String) throws(Broken) {
        guard let request = asked else { return }
        asked = nil
        wanted[request] = user
        var facts = CredentialFacts(scheme: scheme, subject: .user(.user(user)))
        facts.needsHandler = mode == .handler && user == "bob"
        try perform(machine.identifyAnswered(request, .success(facts), now: now))
    }

    private mutating func token(_ event: Event, _ validity: Duration) throws(Broken) {
        let request = request(event)
        try perform(machine.tokenRequested(request, minimumValidity: validity, by: 1_000, now: now))
    }

    private mutating func granted(_ user: String) -> Granted {
        Granted(
            identity: .user(user),
            scheme: scheme,
            life: Life(from: now, lasting: .seconds(3_600)),
            secrets: put(user)
        )
    }

    private mutating func endExchange(
        _ outcome: (inout Exploration) -> Result<Granted, ExchangeFailure>
    ) throws(Broken) {
        guard let attempt = exchange ?? authorizing else { return }
        (exchange, authorizing) = (nil, nil)
        switch outcome(&self) {
        case .success(let granted): try perform(machine.exchangeSucceeded(attempt, granted, now: now))
        case .failure(let failure): try perform(machine.exchangeFailed(attempt, failure, now: now))
        }
    }

    private mutating func endRenewal(
        _ outcome: (inout Exploration) -> Result<Granted, RenewalFailure>
    ) throws(Broken) {
        guard let attempt = renewal else { return }
        renewal = nil
        switch outcome(&self) {
        case .success(let granted): try perform(machine.renewalSucceeded(attempt, granted, now: now))
        case .failure(let failure): try perform(machine.renewalFailed(attempt, failure, now: now))
        }
    }

    /// Answers a renewal with a new refresh token and no usable access token.
    private mutating func fallShort() throws(Broken) {
        guard let attempt = renewal else { return }
        renewal = nil
        var granted = granted(renewalOwner)
        granted.life = nil
        granted.missingAccessToken = Unavailability("No access token")
        try perform(machine.renewalSucceeded(attempt, granted, now: now))
    }

    private mutating func endWrite(failure: StoreFailure?) throws(Broken) {
        guard let ended = write else { return }
        write = nil
        if failure == nil { disk = ended }
        try perform(machine.writeEnded(failure: failure, now: now))
    }

    private mutating func answerQuestion(_ answer: HandlerAnswer) throws(Broken) {
        guard let attempt = question, let handler = askedHandler else { return }
        (question, askedHandler) = (nil, nil)
        try perform(machine.handlerAnswered(handler, attempt, answer, now: now))
    }

    /// Advances time to the alarm and rings it.
    private mutating func ring() throws(Broken) {
        guard let alarm = machine.nextAlarm(now: now) else { return }
        let left = max(alarm - now.wall, .zero)
        now = Moment(wall: now.wall + left, uptime: now.uptime + left)
        try perform(machine.alarmRang(now: now))
        if let next = machine.nextAlarm(now: now), next <= now.wall { throw Broken(description: "a hot loop") }
    }

    private mutating func step(_ duration: Duration) throws(Broken) {
        now.wall = now.wall + duration
        try perform(machine.clockJumped(now: now))
    }

    private mutating func crash() throws(Broken) {
        let awaited =
            machine.persistence.storage.durable && machine.persistence.isIdle ? machine.signIn.device : nil
        (write, exchange, overtaken, renewal, asked, question, askedHandler) = (nil, nil, nil, nil, nil, nil, nil)
        (authorizing, poll) = (nil, nil)
        (handler, isRevoking, waiting, wanted, secretStore) = (nil, false, [], [:], [:])
        machine = SessionMachine(
            provider: "junction",
            schemes: FakeProvider.allSchemes,
            sealedWith: "file",
            seed: 1,
            rules: RenewalRules(mode: mode)
        )
        guard let disk else {
            return try perform(machine.restored(.absent, secrets: put("nobody"), now: now))
        }
        let secrets = put(disk.secret?.owner ?? "nobody")
        let codes = disk.codes.map { put($0.owner) }
        try perform(
            machine.restored(
                .restored(disk.record, SessionSecrets(), damaged: nil),
                secrets: secrets,
                codes: codes,
                now: now
            )
        )
        if let awaited,
            machine.signIn.device?.externalUserId != awaited.externalUserId || machine.signIn.device == nil
        {
            throw Broken(description: "a crash lost a sign-in that somebody may have approved")
        }
    }

    // MARK: The owner's tasks

    private mutating func put(_ owner: String) -> SecretRef {
        secrets += 1
        let ref = SecretRef(number: secrets)
        secretStore[ref] = Secret(owner: owner, number: secrets)
        return ref
    }

    private mutating func perform(_ effects: [Effect]) throws(Broken) {
        for effect in effects {
            switch effect {
            case .exchange(let attempt, let request, _, _):
                if let before = exchange { overtaken = before }
                (exchange, exchangeUser) = (attempt, wanted[request] ?? "alice")
            case .renew(let attempt, let identity, let secrets, let handlerSecret):
                guard secretStore[secrets]?.owner == identity.userId,
                    handlerSecret.map({ secretStore[$0] != nil }) ?? true
                else {
                    throw Broken(description: "\(identity.userId) is renewed with somebody else's secrets")
                }
                (renewal, renewalOwner) = (attempt, identity.userId)
            case .requestDeviceAuthorization(let attempt, _):
                if let before = exchange { overtaken = before }
                (exchange, authorizing) = (nil, attempt)
            case .poll(let attempt, let codes):
                guard secretStore[codes]?.owner == "codes" else {
                    throw Broken(description: "a poll without its codes")
                }
                if exchange != nil || isRevoking { throw Broken(description: "a poll beside another request") }
                poll = attempt
            case .write(let record, let secrets, let codes, _, _):
                if (record.deviceSignIn == nil) != (codes == nil) {
                    throw Broken(description: "a sign-in that awaits approval is written without its codes")
                }
                if write != nil { throw Broken(description: "two writes at once") }
                let secret = secrets.flatMap { secretStore[$0] }
                if case .session(let stored) = record.content, stored.identity.userId != secret?.owner {
                    throw Broken(
                        description: "a record of \(stored.identity.userId) with \(String(describing: secret))"
                    )
                }
                if let disk, !record.supersedes(disk.record) { throw Broken(description: "a write goes back") }
                write = Write(record: record, secret: secret, codes: codes.flatMap { secretStore[$0] })
            case .revoke(let identity, let secrets):
                guard !isRevoking, identity == nil || secretStore[secrets]?.owner == identity?.userId else {
                    throw Broken(description: "a sign-out is told twice, or with other secrets")
                }
                isRevoking = true
            case .interruptRevocation, .resumeProviderCall, .checkRegistration: break
            case .askHandler(let asked, let attempt):
                guard asked == handler else { throw Broken(description: "a handler was asked that is gone") }
                (askedHandler, question) = (asked, attempt.attempt)
            case .ask(let request, _): asked = request
            case .reply(let reply): try hear(reply)
            case .report: break
            }
        }
        // An overtaken exchange may still be granted. A finished one may not.
        if let attempt = exchange, machine.signIn.exchange(awaiting: attempt) == nil {
            overtaken = machine.revocations.overtaken[attempt] == nil ? overtaken : attempt
            exchange = nil
        }
        if let attempt = authorizing, machine.signIn.exchange(awaiting: attempt) == nil { authorizing = nil }
        if let attempt = poll, machine.signIn.exchange(awaiting: attempt) == nil {
            overtaken = machine.revocations.overtaken[attempt] == nil ? overtaken : attempt
            poll = nil
        }
        if let attempt = renewal, machine.renewal.sent(attempt) == nil { renewal = nil }
        secretStore = secretStore.filter { machine.secretsInUse.contains($0.key) }
        if machine.secretsInUse.count != secretStore.count {
            throw Broken(description: "a secret is named that is gone")
        }
    }

    private mutating func hear(_ reply: Reply) throws(Broken) {
        let (request, heard) = (reply.request, CallerAnswer(reply.outcome))
        guard waiting.remove(request) != nil else { throw Broken(description: "answered twice, or unasked") }
        if asked == request { asked = nil }
        switch heard {
        case .token(let token):
            if now.wall >= token.expiresAt { throw Broken(description: "a dead token was served") }
            guard let served = machine.servedSecrets, secretStore[served]?.owner == machine.identity?.userId else {
                throw Broken(description: "somebody else's token was served")
            }
        case .refused(let refusal):
            if let retryAfter = refusal.retryAfter, retryAfter < .zero {
                throw Broken(description: "come back in the past")
            }
        case .done, .identified, .authorized, .rejectionStands, .retry: break
        }
    }

    private func check() throws(Broken) {
        let facts = machine.facts(now: now)
        if let notBefore = facts.renewal.notBefore, notBefore <= now.wall {
            throw Broken(description: "\(facts.renewal.phase) with a time in the past")
        }
        if facts.state == .terminated || facts.state == .notLoggedIn, facts.flags.contains(.signedIn) {
            throw Broken(description: "signedIn is shown while nobody is")
        }
        let isSigningIn = exchange != nil || authorizing != nil || poll != nil
        let isOut = write != nil || isSigningIn || renewal != nil || asked != nil || question != nil
        if !waiting.isEmpty, !isOut, machine.nextAlarm(now: now) == nil {
            throw Broken(description: "\(waiting.count) wait, and nothing will ever happen")
        }
        // The machine must not forget a question that it has asked, or an overtaken request whose answer may still
        // bring a session.
        let isAwaited = isRevoking || !machine.revocations.overtaken.isEmpty
        if machine.isBusy, !isOut, !isAwaited { throw Broken(description: "busy with nothing") }
    }
}
