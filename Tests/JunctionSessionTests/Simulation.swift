@testable import JunctionSession

/// One random history of one installation: callers, a provider, a disk and a clock, with crashes at any moment.
///
/// It plays the owner's part in the plainest way and checks the invariants after every step. Everything is drawn from
/// one seed, so a history that breaks can be run again.
struct Simulation {
    struct Broken: Error, CustomStringConvertible {
        var description: String
    }

    private var random: Randomness
    private var machine: SessionMachine
    private var now = Moment(wall: WallTime(milliseconds: 1_795_219_200_000), uptime: Uptime(milliseconds: 3_600_000))
    private var cloud = SimulatedCloud()

    // What survives a crash.
    private var disk: (record: SessionRecord, refreshToken: Int?)?
    private var diskIsFull = false
    /// A generation was served that the disk does not have: a crash now may cost the login, as the page says.
    private var owesDisk = false

    // What does not.
    private var served: Int?
    private var adopted: [UInt64: Int] = [:]
    private var brought: [Attempt: Int] = [:]
    /// Whose session an attempt, or a generation that is not served yet, has brought, and until when.
    private var broughtProof: [Attempt: (user: String, endsAt: Uptime)] = [:]
    private var adoptedProof: [UInt64: (user: String, endsAt: Uptime)] = [:]
    private var exchanges: [Attempt: String] = [:]
    private var renewals: [Attempt: Int] = [:]
    private var answers: [Answer] = []
    private var writes: [(ticket: WriteTicket, record: SessionRecord, refreshToken: Int?)] = []
    private var waiting: Set<RequestID> = []
    private var wanted: [RequestID: String] = [:]
    private var asked: [RequestID] = []
    private var questions: [(handler: HandlerID, question: RenewalQuestion)] = []
    private var registered: [HandlerID] = []
    private var lastHandler: UInt64 = 0
    /// Nobody may be asked before this, but for whoever may pass a postponement.
    private var quietUntil: Uptime?
    private let mode: RenewalMode
    private var lastRequest: UInt64 = 0
    private var revokedBefore = 0
    /// Who is signed in, and until when by the clock that never steps: what the next sign-out will be told with.
    private var present: (user: String, endsAt: Uptime)?
    /// What is kept of those who signed out, and until when it proves anything.
    private var keptSecrets: [RevocationID: (user: String, endsAt: Uptime)] = [:]
    /// The request by which the provider is being told of a sign-out.
    private var telling: RevocationID?
    /// No attempt for this one before: the backoff was fixed.
    private var toldAgain: [RevocationID: Uptime] = [:]

    private struct Answer {
        var attempt: Attempt
        var verdict: SimulatedCloud.Verdict
        var isRenewal: Bool
    }

    private static let users = ["alice", "bob"]

    init(seed: UInt64) {
        random = Randomness(seed: seed)
        mode = seed % 3 == 0 ? .handler : .automatic
        machine = SessionMachine(provider: "junction", sealedWith: "file", seed: seed ^ 0xABCD, mode: mode)
    }

    /// Runs the history; throws what broke.
    mutating func run(steps: Int) throws(Broken) {
        try perform(machine.restored(.absent, now: now))
        for _ in 0..<steps {
            try step()
            try check()
        }
        try settleDown()
    }

    // MARK: Steps

    private mutating func step() throws(Broken) {
        switch chance(100) {
        case 0..<12: try signIn()
        case 12..<15: try signOut()
        case 15..<18: try identify()
        case 18..<20: try changeHandlers()
        case 20..<24:
            try answerQuestion()
            try answerAsHandler()
        case 24..<34:
            try ask {
                $0.tokenRequested($1, minimumValidity: .seconds(Int64($2 % 4_000)), allowance: .granted, now: $3)
            }
        case 34..<39:
            try ask { machine, request, _, now in
                machine.renewRequested(request, allowance: .granted, now: now)
            }
        case 39..<42:
            try ask { machine, request, draw, now in
                let generation = machine.generation - min(machine.generation, UInt64(draw % 2))
                return machine.authorizationRejected(request, generation: generation, allowance: .granted, now: now)
            }
        case 42..<55: try reachCloud()
        case 55..<57: try endRevocation()
        case 57..<68: try deliverAnswer()
        case 68..<84: try endWrite()
        case 84..<91: try pass(.milliseconds(Int64(chance(3_000_000))))
        case 91..<94: try pass(.milliseconds(Int64(chance(20_000))))
        case 94: try jumpClock()
        case 95: diskIsFull.toggle()
        case 96: changeCloud()
        default: try crash()
        }
    }

    private mutating func changeHandlers() throws(Broken) {
        if registered.isEmpty || chance(3) > 0 {
            lastHandler += 1
            let handler = HandlerID(number: lastHandler)
            registered.append(handler)
            try perform(machine.handlerRegistered(handler, now: now))
        } else {
            let handler = registered.remove(at: chance(registered.count))
            questions.removeAll { $0.handler == handler }
            try perform(machine.handlerGone(handler, now: now))
        }
    }

    /// Answers well, is unable, answers another question, or answers twice.
    private mutating func answerAsHandler() throws(Broken) {
        guard let open = questions.last else { return }
        let answer: HandlerAnswer = [.renew, .credential, .signature, .unable][chance(4)]
        if chance(6) == 0 {
            let other = Attempt(number: open.question.attempt.number &+ 1)
            try perform(machine.handlerAnswered(open.handler, other, answer, now: now))
            return
        }
        questions.removeLast()
        let wasLast = machine.inquiry.map { $0.round.others.isEmpty && $0.purpose == .renewal } ?? false
        try perform(machine.handlerAnswered(open.handler, open.question.attempt, answer, now: now))
        if answer == .unable, wasLast { quietUntil = now.uptime + .seconds(600) }
        try perform(machine.handlerAnswered(open.handler, open.question.attempt, answer, now: now))
    }

    private mutating func signIn() throws(Broken) {
        let user = Self.users[chance(2)]
        let request = newRequest()
        wanted[request] = user
        var facts: CredentialFacts = chance(8) == 0 ? .linkCode : .signInToken(user)
        if mode == .handler, chance(4) == 0 { facts.needsHandler = true }
        try perform(machine.signInRequested(request, facts, allowance: .granted, now: now))
    }

    private mutating func signOut() throws(Broken) {
        let request = newRequest()
        try perform(machine.signOutRequested(request, now: now))
    }

    private mutating func identify() throws(Broken) {
        let request = newRequest()
        let externalUserId = chance(5) == 0 ? nil : "ext-" + Self.users[chance(2)]
        try perform(
            machine.identifyRequested(request, externalUserId: externalUserId, allowance: .granted, now: now)
        )
    }

    private mutating func answerQuestion() throws(Broken) {
        guard !asked.isEmpty else { return }
        let request = asked.removeFirst()
        let user = Self.users[chance(2)]
        wanted[request] = user
        let answer: Result<CredentialFacts, Refusal> =
            chance(5) == 0 ? .failure(Refusal(.invalidCredential, "No credential")) : .success(.signInToken(user))
        try perform(machine.identifyAnswered(request, answer, now: now))
    }

    private mutating func ask(
        _ event: (inout SessionMachine, RequestID, Int, Moment) -> [Effect]
    ) throws(Broken) {
        let request = newRequest()
        let draw = chance(1_000_000)
        try perform(event(&machine, request, draw, now))
    }

    /// A request arrives at the cloud, or is lost on the way.
    private mutating func reachCloud() throws(Broken) {
        if let (attempt, token) = renewals.randomElement(&random) {
            switch chance(6) {
            case 0:
                renewals[attempt] = nil
                try failRenewal(attempt, ambiguous: false)
            case 1:
                // It arrived and was acted on; the answer will never come.
                renewals[attempt] = nil
                _ = cloud.refresh(token)
                try failRenewal(attempt, ambiguous: true)
            default:
                renewals[attempt] = nil
                answers.append(Answer(attempt: attempt, verdict: cloud.refresh(token), isRenewal: true))
            }
        }
        if let (attempt, user) = exchanges.randomElement(&random) {
            exchanges[attempt] = nil
            if chance(5) == 0 {
                let failure = ExchangeFailure.unavailable(Unavailability("No answer"))
                try perform(machine.exchangeFailed(attempt, failure, now: now))
            } else {
                answers.append(Answer(attempt: attempt, verdict: cloud.exchange(for: user), isRenewal: false))
            }
        }
    }

    private mutating func failRenewal(_ attempt: Attempt, ambiguous: Bool) throws(Broken) {
        let failure = RenewalFailure.unavailable(Unavailability("No answer", ambiguous: ambiguous))
        try perform(machine.renewalFailed(attempt, failure, now: now))
    }

    /// The cloud heard of a sign-out, or it did not.
    private mutating func endRevocation() throws(Broken) {
        guard let told = telling else { return }
        telling = nil
        switch chance(4) {
        case 0: try perform(machine.revocationEnded(told, failure: nil, now: now))
        case 1:
            toldAgain[told] = now.uptime + .seconds(90)
            let failure = Unavailability("Busy", retryAfter: .seconds(90))
            try perform(machine.revocationEnded(told, failure: failure, now: now))
        default:
            toldAgain[told] = now.uptime + RenewalPolicy.shortestBackoff
            try perform(machine.revocationEnded(told, failure: Unavailability("No answer"), now: now))
        }
        // The same outcome twice is news once.
        try perform(machine.revocationEnded(told, failure: nil, now: now))
    }

    private mutating func deliverAnswer() throws(Broken) {
        guard !answers.isEmpty else { return }
        let answer = answers.remove(at: chance(answers.count))
        let life = Duration.seconds(Int64(20 + chance(7_000)))
        switch answer.verdict {
        case .granted(let user, let refreshToken):
            brought[answer.attempt] = refreshToken
            broughtProof[answer.attempt] = (user, now.uptime + life)
            let wasOvertaken = machine.overtaken[answer.attempt] != nil
            if answer.isRenewal {
                try perform(
                    machine.renewalSucceeded(answer.attempt, issuedAt: now.wall, expiresAt: now.wall + life, now: now)
                )
            } else {
                let token = (issuedAt: now.wall, expiresAt: now.wall + life)
                try perform(
                    machine.exchangeSucceeded(answer.attempt, .user(user), .signInToken, token: token, now: now)
                )
            }
            if wasOvertaken { try checkUnwanted(user) }
        case .deleted:
            if answer.isRenewal {
                let verdict = RenewalFailure.terminated(code: "invalid_token", message: "The user was deleted")
                try perform(machine.renewalFailed(answer.attempt, verdict, now: now))
            } else {
                try perform(machine.exchangeFailed(answer.attempt, .refused("invalid_token"), now: now))
            }
        case .reauthentication:
            try perform(machine.renewalFailed(answer.attempt, .reauthenticationRequired, now: now))
        }
    }

    /// Whoever was granted a session after a sign-out is to be signed out there, or is signed in or signing in again.
    private func checkUnwanted(_ user: String) throws(Broken) {
        if keptSecrets.values.contains(where: { $0.user == user }) || machine.identity?.userId == user { return }
        if case .signedIn(let session)? = machine.exchange?.result, session.stored.identity.userId == user { return }
        throw Broken(description: "a session that nobody wants lives on at the provider")
    }

    private mutating func endWrite() throws(Broken) {
        guard !writes.isEmpty else { return }
        let write = writes.removeFirst()
        let failure = diskIsFull ? StoreFailure("No space left on device") : nil
        if failure == nil { try put(write.record, write.refreshToken) }
        try perform(machine.writeEnded(write.ticket, failure: failure, now: now))
        owesDisk = !machine.storage.durable
    }

    private mutating func put(_ record: SessionRecord, _ refreshToken: Int?) throws(Broken) {
        if let present = disk?.record, !record.supersedes(present) {
            throw Broken(description: "a write goes back from \(present.generation) to \(record.generation)")
        }
        if case .session = record.content, refreshToken == nil {
            throw Broken(description: "a session was written without its refresh token")
        }
        disk = (record, refreshToken)
    }

    private mutating func pass(_ duration: Duration) throws(Broken) {
        now = Moment(wall: now.wall + duration, uptime: now.uptime + duration)
        try perform(machine.alarmRang(now: now))
    }

    private mutating func jumpClock() throws(Broken) {
        now.wall = now.wall + .seconds(Int64(chance(20_000)) - 10_000)
        try perform(machine.clockJumped(now: now))
    }

    private mutating func changeCloud() {
        let user = Self.users[chance(2)]
        switch chance(3) {
        case 0: cloud.deleted.insert(user)
        case 1: cloud.deleted.remove(user)
        default: cloud.demandsReauthentication.insert(user)
        }
    }

    /// The process dies: before, or just after, the write at the head of the line reached the disk. Requests that left
    /// may still arrive at the cloud.
    private mutating func crash() throws(Broken) {
        let promised = machine.standing
        let isPromised = writes.isEmpty && machine.storage.durable && machine.exchange == nil
        let isRewritten = disk != nil
        if let head = writes.first, chance(2) == 0, !diskIsFull { try put(head.record, head.refreshToken) }
        for (_, token) in renewals where chance(2) == 0 { _ = cloud.refresh(token) }
        for (_, user) in exchanges where chance(2) == 0 { _ = cloud.exchange(for: user) }
        if owesDisk { revokedBefore = .max }

        machine = SessionMachine(provider: "junction", sealedWith: "file", seed: random.next(), mode: mode)
        (questions, registered) = ([], [])
        // Uptime begins again; what is stored of a postponement has tests of its own.
        quietUntil = nil
        (served, adopted, brought) = (nil, [:], [:])
        (broughtProof, adoptedProof) = ([:], [:])
        (exchanges, renewals, answers, writes) = ([:], [:], [], [])
        (waiting, wanted, asked) = ([], [:], [])
        // No secret of whoever signed out was on disk, so nobody is told after a crash.
        (present, keptSecrets, telling, toldAgain) = (nil, [:], nil, [:])
        now.uptime = Uptime(milliseconds: 1_000)
        owesDisk = false
        try restart()
        if isPromised, isRewritten, !promised.isRestoration(of: machine.standing) {
            throw Broken(description: "a crash lost \(promised): \(machine.standing)")
        }
    }

    private mutating func restart() throws(Broken) {
        guard let disk else {
            try perform(machine.restored(.absent, now: now))
            return
        }
        adopted[disk.record.generation] = disk.refreshToken
        try perform(machine.restored(.restored(disk.record, SessionSecrets(), damaged: nil), now: now))
    }

    // MARK: The owner's part

    private mutating func perform(_ effects: [Effect]) throws(Broken) {
        for effect in effects {
            switch effect {
            case .exchange(let attempt, let request, _):
                guard let user = wanted[request] else { throw Broken(description: "an exchange without a credential") }
                exchanges[attempt] = user
            case .renew(let attempt):
                guard let served else { throw Broken(description: "a renewal without a refresh token") }
                renewals[attempt] = served
            case .abandon(let attempt):
                (brought[attempt], broughtProof[attempt]) = (nil, nil)
            case .adopt(let attempt, let generation):
                adopted[generation] = brought.removeValue(forKey: attempt)
                adoptedProof[generation] = broughtProof.removeValue(forKey: attempt)
            case .adoptKey:
                break
            case .write(let ticket, let record):
                writes.append((ticket, record, adopted[record.generation]))
            case .activate(let generation):
                served = adopted[generation]
                // A sign-in, or a renewal that succeeded, begins anew.
                quietUntil = nil
                adopted = adopted.filter { $0.key >= generation }
            case .erase:
                (served, adopted, brought) = (nil, [:], [:])
                (broughtProof, adoptedProof) = ([:], [:])
            case .ask(let request, _):
                asked.append(request)
            case .askHandler(let handler, let question):
                guard registered.contains(handler) else {
                    throw Broken(description: "a handler was asked that is gone")
                }
                if question.reason != .missing, question.reason != .requested, let quietUntil, now.uptime < quietUntil {
                    throw Broken(description: "a handler was asked within ten minutes of unable")
                }
                questions = [(handler, question)]
            case .reply(let request, let reply):
                guard waiting.remove(request) != nil else { throw Broken(description: "answered twice: \(reply)") }
                asked.removeAll { $0 == request }
                try checkReply(reply)
            case .keepSecrets(let source, let revocation):
                let proof =
                    switch source {
                    case .present: present
                    case .generation(let generation): adoptedProof[generation]
                    case .attempt(let attempt): broughtProof[attempt]
                    }
                guard let proof else { throw Broken(description: "a sign-out of nobody is to be told") }
                keptSecrets[revocation] = proof
            case .revoke(let revocation, let identity):
                try tell(revocation, identity)
            case .interrupt(let revocation):
                guard telling == revocation else { throw Broken(description: "a request was given up that is over") }
            case .forgetSecrets(let revocation):
                keptSecrets[revocation] = nil
            case .keepAnswer, .forgetAnswer, .charge, .report:
                break
            }
        }
    }

    /// The provider is told of a sign-out: of one at a time, in good time, and never of who is, or may become, signed in.
    private mutating func tell(_ revocation: RevocationID, _ identity: Identity) throws(Broken) {
        if telling != nil { throw Broken(description: "the provider is told of two sign-outs at once") }
        guard let kept = keptSecrets[revocation], kept.user == identity.userId else {
            throw Broken(description: "a sign-out is told without the secrets of its user")
        }
        if now.uptime >= kept.endsAt { throw Broken(description: "a sign-out is told after its token has ended") }
        if let time = toldAgain[revocation], now.uptime < time {
            throw Broken(description: "a sign-out is told again before its time")
        }
        if machine.identity?.userId == kept.user { throw Broken(description: "the signed-in user is signed out") }
        if let exchange = machine.exchange, wanted[exchange.request] == kept.user {
            throw Broken(description: "a user who is signing in is signed out")
        }
        if machine.leaving != nil { throw Broken(description: "a sign-out is told before it is over here") }
        telling = revocation
    }

    private func checkReply(_ reply: Reply) throws(Broken) {
        guard case .token(let token) = reply else { return }
        if now.wall >= token.expiresAt { throw Broken(description: "a dead token was served") }
        if case .terminated = machine.standing { throw Broken(description: "a token was served after the end") }
    }

    // MARK: Invariants

    private mutating func check() throws(Broken) {
        // 1: at most one user, at most one exchange and one renewal whose answers are still wanted.
        let wantedExchanges = exchanges.keys.count { machine.exchange?.attempt == $0 }
        if wantedExchanges > 1 { throw Broken(description: "two exchanges in flight") }
        // 3: the provider never sees a token twice in a way that looks like theft.
        if revokedBefore != .max, cloud.revokedFamilies > revokedBefore {
            throw Broken(description: "a family of refresh tokens was revoked: the login is lost")
        }
        // 5: whatever is due, is in the future or under way.
        if let due = machine.nextAlarm(now: now), due <= now.wall {
            throw Broken(description: "an alarm is due in the past: a hot loop")
        }
        // Secrets are kept for those of whom the provider is still to hear, and for nobody else.
        if Set(machine.revocations.map(\.id)) != Set(keptSecrets.keys) {
            throw Broken(description: "the secrets that are kept are not those of the revocations")
        }
        if machine.revocations.count > RenewalPolicy.mostRevocations {
            throw Broken(description: "the list of revocations grows without end")
        }
        present = machine.presentForRevocation(now)
        let facts = machine.facts(now: now)
        if facts.state == .terminated || facts.state == .notLoggedIn, facts.flags.contains(.signedIn) {
            throw Broken(description: "signedIn is shown while nobody is")
        }
    }

    /// Lets the world become quiet: everybody who waits must have been answered then.
    private mutating func settleDown() throws(Broken) {
        diskIsFull = false
        for _ in 0..<200 {
            try answerAll()
            try reachCloudFaithfully()
            while !answers.isEmpty { try deliverAnswer() }
            while !writes.isEmpty { try endWrite() }
            while telling != nil { try endRevocation() }
            try check()
            if waiting.isEmpty, !machine.isBusy, machine.storage.durable { return }
            try pass(.seconds(61))
        }
        throw Broken(description: "\(waiting.count) callers were never answered")
    }

    private mutating func answerAll() throws(Broken) {
        while !asked.isEmpty { try answerQuestion() }
        while !questions.isEmpty { try answerAsHandler() }
    }

    private mutating func reachCloudFaithfully() throws(Broken) {
        for (attempt, token) in renewals {
            answers.append(Answer(attempt: attempt, verdict: cloud.refresh(token), isRenewal: true))
        }
        for (attempt, user) in exchanges {
            answers.append(Answer(attempt: attempt, verdict: cloud.exchange(for: user), isRenewal: false))
        }
        (renewals, exchanges) = ([:], [:])
    }

    private mutating func newRequest() -> RequestID {
        lastRequest += 1
        let request = RequestID(number: lastRequest)
        waiting.insert(request)
        return request
    }

    private mutating func chance(_ count: Int) -> Int {
        Int(random.next() % UInt64(max(count, 1)))
    }
}

extension SessionMachine {
    /// Who is signed in, and for how long a sign-out could be told with the present token, by the plainest arithmetic.
    fileprivate func presentForRevocation(_ now: Moment) -> (user: String, endsAt: Uptime)? {
        guard case .signedIn(let session) = standing else { return nil }
        guard let token = session.stored.token, session.isTrustworthy(now) else {
            return (session.stored.identity.userId, now.uptime + .seconds(86_400))
        }
        let byWall = now.uptime + (token.expiresAt - now.wall)
        return (session.stored.identity.userId, min(byWall, session.endsAt ?? byWall))
    }
}

extension SessionMachine.Standing {
    /// Whether a restart that brought `other` brought this standing back.
    fileprivate func isRestoration(of other: Self) -> Bool {
        switch (self, other) {
        case (.signedIn(let before), .signedIn(let after)):
            before.stored.identity == after.stored.identity && before.stored.token == after.stored.token
                && before.stored.renewAt == after.stored.renewAt
                && before.stored.reauthenticationPending == after.stored.reauthenticationPending
                && before.stored.externalUserId == after.stored.externalUserId
        default:
            self == other
        }
    }
}

extension Dictionary where Key == Attempt {
    /// An element, drawn in an order that depends on the seed only.
    fileprivate func randomElement(_ random: inout Randomness) -> Element? {
        let keys = keys.sorted { $0.number < $1.number }
        guard !keys.isEmpty else { return nil }
        let key = keys[Int(random.next() % UInt64(keys.count))]
        return self[key].map { (key, $0) }
    }
}
