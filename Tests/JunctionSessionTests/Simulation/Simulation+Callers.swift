import JunctionSecret
import JunctionSession

/// The requests of callers, and checks of their answers.
extension Simulation {
    var isSigningOut: Bool { waiting.values.contains(where: \.isSignOut) }

    /// A random local user.
    private func caller() -> UInt32 { UInt32(chance(callers)) }

    private func wait(_ kind: Waiter.Kind) -> (number: Int, uid: UInt32) {
        let (number, uid) = (newNumber(), caller())
        waiting[number] = Waiter(kind: kind, uid: uid, signOuts: model.signOuts)
        return (number, uid)
    }

    // MARK: Sign-ins and sign-outs

    @discardableResult
    func signIn(as user: String? = nil, isBootstrap: Bool = false) -> Int {
        let (number, uid) = wait(.signIn)
        waiting[number]?.isBootstrap = isBootstrap
        let credential = credential(of: user ?? Self.users[chance(2)], for: number)
        let (life, isAllowed) = (life!, isAllowed(number))
        on { owner in
            let caller = LocalCaller(user: UInt32(number))
            owner.signIn(credential, by: uid, while: isAllowed, caller: caller) { [self] in heard($0, number, life) }
        }
        return number
    }

    private func credential(of user: String, for number: Int) -> Credential {
        if scheme == .signInToken, chance(4) == 0 {
            waiting[number]?.isDevice = true
            model.deviceRequests.insert(number)
            return .device
        }
        if scheme == .signInToken, chance(4) == 0 {
            // Sometimes the credential is one that an earlier attempt has spent.
            let unfinished = chance(2) == 0 ? model.unfinishedLinks.removeValue(forKey: user) : nil
            let link = unfinished ?? provider.link(for: user)
            waiting[number]?.link = link
            return .linkCode(SharedSecret(text: "link:\(user):\(link)"))
        }
        if mode == .handler, chance(4) < (waiting[number]?.hasAnswered == true ? 3 : 1) {
            return .registration(userId: "\(user):\(number)", token: nil)
        }
        let secret = SharedSecret(text: "login:\(user):\(number)")
        return scheme == .signInToken
            ? .signInToken(secret) : .userLogin(userId: user, displayName: nil, authToken: secret)
    }

    private func isAllowed(_ number: Int) -> @Sendable () -> Bool {
        { [unowned self] in !model.withdrawn.contains(number) }
    }

    func signOut() {
        coverage.note(.signOuts)
        let (number, uid) = wait(.signOut)
        let life = life!
        signingOut(number) { owner in
            owner.signOut(by: uid) { [self] in heard($0, number, life) }
        }
    }

    /// Signs out. Every earlier request ends, except API calls that have left.
    private func signingOut(_ number: Int, _ body: @escaping (isolated SessionOwner) -> Void) {
        let before = waiting.filter { $0.key != number && !$0.value.isSignOut && $0.value.kind != .api }.keys
        model.signsOut(self)
        on(body)
        if bootstrapUser != nil { fail("a sign-out left a credential to be tried again") }
        if before.contains(where: { waiting[$0] != nil }) {
            fail("a sign-out left requests waiting that came before it")
        }
    }

    func identify() {
        let wanted = chance(8) == 0 ? nil : "ext-" + Self.users[chance(2)]
        let (number, uid) = wait(.identify(wanted))
        let (life, isAllowed) = (life!, isAllowed(number))
        let body: (isolated SessionOwner) -> Void = { [self] owner in
            let caller = LocalCaller(user: UInt32(number))
            owner.identify(
                externalUserId: wanted.flatMap { ExternalUserId($0) },
                by: uid,
                while: isAllowed,
                caller: caller
            ) {
                [self] request, _ in
                if !life.isOver {
                    plan(.appAnswers(request, waiter: number), after: Int64(chance(isHealed ? 100 : 60_000)))
                }
            } answer: { [self] result in
                if case .success((.switched, _)) = result, !life.isOver { coverage.note(.switchesWritten) }
                heard(result.map(\.1), number, life)
            }
        }
        if wanted == nil { signingOut(number, body) } else { on(body) }
    }

    func answerAsApp(_ request: RequestID, _ number: Int) {
        guard waiting[number] != nil else { return }
        waiting[number]?.hasAnswered = true
        let user = Self.users[chance(2)]
        let answer: Result<Credential, SessionError> =
            chance(6) == 0
            ? .failure(SessionError(.invalidCredential, "No credential")) : .success(credential(of: user, for: number))
        on { $0.identifyAnswered(request, with: answer) }
    }

    // MARK: Tokens

    func requestToken() {
        let validity = Duration.seconds(chance(3) == 0 ? chance(2_000) : 0)
        let (number, uid) = wait(.token)
        let life = life!
        on { owner in
            owner.token(minimumValidity: validity, by: uid) { [self] result in
                guard !life.isOver else { return }
                if case .success(let token) = result {
                    judgeServed(token.secret.number, to: token.userId)
                    if token.facts != snapshot.facts.accessToken { fail("another token is served than is shown") }
                }
                answered(number, refusal: result.refusal)
            }
        }
    }

    func callApi() {
        let (number, uid) = wait(.api)
        let life = life!
        on { owner in
            owner.call(ApiRequest(method: "GET", path: "/"), by: uid) { [self] result in
                guard !life.isOver else { return }
                if case .success = result, let waiter = waiting[number], waiter.signOuts != model.signOuts {
                    fail("a call is answered after its user has signed out")
                }
                answered(number, refusal: result.refusal)
            }
        }
    }

    /// Requests `session.renew`, which makes one attempt in ten seconds while it fails.
    func requestRenewal() {
        let (number, uid) = wait(.renew)
        let (life, before) = (life!, snapshot.facts.renewal.phase)
        if before != .inFlight { model.isRenewalRequested = true }
        on { owner in
            owner.renew(by: uid) { [self] in heard($0, number, life) }
        }
        changed(snapshot)
        guard before != .inFlight, snapshot.facts.renewal.phase == .inFlight else { return }
        if time < model.renewBarredUntil { fail("session.renew makes two attempts in ten seconds") }
        model.renewBarredUntil = time + 10_000
    }

    // MARK: Answers

    /// Checks that the answer to a change is true, and that a change reported as durable is on the disk.
    private func heard(_ result: Result<Snapshot, SessionError>, _ number: Int, _ life: ProcessLife) {
        guard !life.isOver else { return }
        log("request \(number) is answered: \(result.refusal?.message ?? "done")")
        let waiter = waiting[number]
        answered(number, refusal: result.refusal)
        if case .success(let told) = result, let waiter {
            let facts = told.facts
            judgePromise(facts, to: waiter)
            let isSignedIn = facts.flags.contains(.signedIn)
            switch waiter.kind {
            case .signIn where !isSignedIn && facts.authorization == nil:
                fail("a sign-in succeeded, and nobody is signed in or waited for")
            case .identify(let wanted?) where facts.externalUserId?.text != wanted && !isBeingNamed:
                fail("\(wanted) is told to be signed in, and \(facts.externalUserId?.text ?? "nobody") is")
            case .signOut where isSignedIn, .identify(nil) where isSignedIn:
                fail("a sign-out is told to be done, and somebody is signed in")
            default: break
            }
            if let name = waiter.kind.name, isSignedIn { model.held?.name = isBeingNamed ? nil : .some(name) }
            if waiter.isWithdrawn { fail("a sign-in succeeds although the right to it was withdrawn") }
        }
    }

    /// Whether another call that is not answered yet may have changed the user's name.
    var isBeingNamed: Bool { waiting.values.contains { $0.isSignIn && $0.hasAnswered } }

    private func answered(_ number: Int, refusal: SessionError?) {
        guard let waiter = waiting.removeValue(forKey: number) else { return fail("a request is answered twice") }
        if let retryAfter = refusal?.retryAfter, retryAfter < .zero {
            fail("a caller is told to come back in the past")
        }
        if refusal?.kind == .busy, callers == 3 { coverage.note(.budgetsSpent) }
        if waiter.isDevice, waiter.hasAnswered, let code = model.codes.max(), provider.isRedeemed(code), refusal != nil
        {
            coverage.note(.lostApprovals)
            if refusal?.message.contains("before anybody approved") == true {
                fail("an approved sign-in is reported as expired")
            }
        }
        // The user's new name may be shown until the sign-out that overtook the call is written.
        if refusal != nil, waiter.hasAnswered { model.held?.name = nil }
        if waiter.isBootstrap { plan(.bootstrapAnswered(refusal), after: 0) }
    }

    /// Checks that no local user exceeds the limit of sign-in calls in a minute.
    func charge(_ request: Int?) {
        guard let uid = request.flatMap({ waiting[$0]?.uid }) else { return }
        model.exchanges += 1
        var recent = (model.spent[uid] ?? []).filter { time - $0 < 60_000 }
        recent.append(time)
        if recent.count > callsPerMinute { fail("user \(uid) causes \(recent.count) calls in a minute") }
        model.spent[uid] = recent
    }
}

extension Result where Failure == SessionError {
    var refusal: SessionError? {
        if case .failure(let refusal) = self { refusal } else { nil }
    }
}
