import JunctionSecret
import JunctionTesting
import Synchronization
import Testing

@testable import JunctionSession

/// The sequences that a third reading of the heart found, each by name.
struct ThirdReadingTests {

    @Test func `a clock set forward does not move the renewal past the end of the token`() {
        var late = 0
        for seed in 0..<20 as Range<UInt64> {
            var bench = Bench.signedIn(seed: seed)
            bench.stepWall(.seconds(1_750))
            guard let notBefore = bench.facts.renewal.notBefore else { continue }
            if notBefore >= bench.machine.standing.session!.end(bench.now)! { late += 1 }
        }
        #expect(late == 0)
    }

    @Test func `after a restart a token ends by the clock that never steps, too`() {
        let bench = Bench.signedIn()
        var at = bench.now
        at = Moment(wall: at.wall + .seconds(3_000), uptime: Uptime(milliseconds: 10_000))
        var r = Bench(at: at, .restored(bench.written.last!, SessionSecrets(), damaged: nil))
        #expect(r.renewals.count == 1)
        r.failRenewal(.busy)
        let noted = r.written.last!.writtenAt
        r.stepWall(.seconds(-2_700))
        if !r.renewals.isEmpty { r.failRenewal(.busy) }
        #expect(r.now.wall < noted)
        r.pass(.seconds(660))  // really 3 660 s old
        if !r.renewals.isEmpty { r.failRenewal(.busy) }
        let q = r.token()
        if case .token = r.reply(to: q) {
            Issue.record(
                "a token of 3600 s is served 3660 s after it was granted; record written at \(noted) now \(r.now.wall)"
            )
        }
    }

    @Test func `after a restart a clock set back puts no renewal off`() {
        let bench = Bench.signedIn()
        let at = Moment(wall: bench.now.wall + .seconds(1_500), uptime: Uptime(milliseconds: 10_000))
        var r = Bench(at: at, .restored(bench.written.last!, SessionSecrets(), damaged: nil))
        r.stepWall(.seconds(-1_490))
        r.pass(.seconds(1_700))
        if !r.renewals.isEmpty { r.failRenewal(.busy) }
        r.pass(.seconds(450))
        while !r.renewals.isEmpty { r.failRenewal(.busy) }
        let q = r.token()
        if case .token = r.reply(to: q) { Issue.record("dead token served") }
    }

    @Test func `a postponement outlives a clock that is set and a restart`() {
        var bench = Bench.signedIn(mode: .handler)
        bench.register(1)
        bench.pass(.seconds(3_000))
        bench.answerQuestion(.unable)
        #expect(bench.facts.renewal.phase == .postponed)
        bench.stepWall(.seconds(3_600))
        #expect(bench.facts.renewal.phase == .postponed)
        bench.pass(.seconds(5))
        var r = bench.restarted(mode: .handler)
        r.register(2)
        #expect(r.everAsked.isEmpty, "asked 5 s after unable")
    }

    @Test func `handlers with bad answers are no way past the limit`() {
        var bench = Bench(mode: .handler, callsPerMinute: 2)
        bench.signIn(.signInToken("alice"), by: 1)
        bench.grantExchange()
        for n in 1...10 as ClosedRange<UInt64> { bench.register(n) }
        bench.pass(.seconds(100))
        bench.renew()
        var calls = 0
        while !bench.questions.isEmpty, calls < 20 {
            bench.answerQuestion(.credential)
            guard !bench.renewals.isEmpty else { break }
            calls += 1
            bench.failRenewal(.answerRefused("no"))
            if bench.facts.renewal.phase == .postponed { break }
        }
        #expect(calls <= 2, "\(calls)")
    }

    @Test func `no refresh token is spent for whom a switch has replaced`() {
        var bench = Bench.signedIn()
        bench.holdsWrites = true
        let request = bench.identify("ext-bob")
        bench.answer(request, .success(.signInToken("bob")))
        bench.renew()
        #expect(bench.heldWrites.count == 1)
        bench.grantExchange(of: "bob")
        let held = bench.heldWrites[0]
        let effects = bench.machine.writeEnded(held.ticket, failure: nil, now: bench.now)
        let sent = effects.contains { if case .renew = $0 { true } else { false } }
        let change = effects.contains {
            if case .write(_, let r, _, _, _) = $0, case .session(let s) = r.content {
                s.identity.userId == "bob"
            } else {
                false
            }
        }
        #expect(!(sent && change), "alice's refresh token leaves in the event that begins the switch to bob")
    }

    @Test func `a replay is made until the switch takes the slot: a crash before that brings the old user back`() {
        var bench = Bench.signedIn()
        let request = bench.identify("ext-bob")
        bench.answer(request, .success(.signInToken("bob")))
        bench.renew()
        bench.failRenewal(.lost)
        // A detail of alice's session is on its way to a slow disk, and bob's grant waits for that.
        bench.holdsWrites = true
        let exchange = bench.exchanges[0]
        bench.machine.note()
        bench.perform(bench.machine.alarmRang(now: bench.now))
        bench.grant(exchange, of: "bob")
        #expect(bench.heldWrites.count == 1)
        bench.pass(.seconds(2))
        #expect(bench.renewals.count == 1)
        bench.endWrites()
        #expect(bench.facts.userId == "bob")
    }

    @Test func `tokens that are dead on arrival are no hot loop`() {
        var bench = Bench.signedIn(life: .seconds(60))
        bench.pass(.seconds(61))
        var calls = 0
        for _ in 0..<50 {
            guard let attempt = bench.renewals.last else { break }
            calls += 1
            let start = Moment(wall: bench.now.wall + .seconds(-70), uptime: bench.now.uptime + .seconds(-70))
            let granted = bench.granted("alice", from: start)
            bench.perform(bench.machine.renewalSucceeded(attempt, granted, now: bench.now))
        }
        #expect(calls < 3, "\(calls) calls in no time")
    }

    @Test func `a record that cannot be read owes the disk nothing`() {
        var machine = SessionMachine(
            provider: "junction",
            schemes: FakeProvider.allSchemes,
            sealedWith: "file",
            seed: 1
        )
        let now = Moment(wall: WallTime(milliseconds: 1_795_219_200_000), uptime: Uptime(milliseconds: 3_600_000))
        let un = Restoration.Unreadable(status: .locked, remedy: "x", header: nil, canSignIn: true)
        _ = machine.restored(.unreadable(un), secrets: SecretRef(number: 1), durable: false, now: now)
        let later = Moment(wall: now.wall + .seconds(5), uptime: now.uptime + .seconds(5))
        _ = machine.alarmRang(now: later)
        let alarm = machine.nextAlarm(now: later)
        #expect(alarm.map { $0 > later.wall } ?? true)
    }

    @Test func `a grant for another user than the credential named is none`() {
        var bench = Bench.pendingReauthentication()
        let q = bench.signIn(.signInToken("alice"))
        bench.grantExchange(of: "bob")
        #expect(bench.facts.userId == "alice", "\(String(describing: bench.reply(to: q)))")
    }

    // MARK: owner

    @Test func `where nobody can help, the 401 is what is reported`() {
        let bench = OwnerBench(rules: RenewalRules(mode: .handler)).start()
        bench.on { $0.signIn(.signInToken(SharedSecret(text: "alice")), by: 1_000) { _ in } }
        let asked = Box<RenewalQuestion>()
        let ids = Box<HandlerID>()
        bench.on { ids.put($0.register(handlerOf: 1_000) { asked.put($0) }) }
        bench.provider.answerCalls(ApiAnswer(status: 401, headers: [], body: []))
        let said = Box<String>()
        bench.on {
            $0.call(ApiRequest(method: "GET", path: "/v2/user/alice"), by: 7) {
                switch $0 {
                case .success(let a): said.put("\(a.status)")
                case .failure(let r): said.put(r.kind.rawValue)
                }
            }
        }
        #expect(asked.all.count == 1)
        bench.on { $0.answered(ids.all[0], asked.all[0].attempt, nil) }
        #expect(said.all == ["401"])
        // the same call again, while postponed
        bench.provider.answerCalls(ApiAnswer(status: 401, headers: [], body: []))
        bench.on {
            $0.call(ApiRequest(method: "GET", path: "/v2/user/alice"), by: 7) {
                switch $0 {
                case .success(let a): said.put("\(a.status)")
                case .failure(let r): said.put(r.kind.rawValue)
                }
            }
        }
    }

    @Test func `while a new credential is wanted, the 401 is what is reported`() {
        let bench = OwnerBench().start()
        bench.on { $0.signIn(.signInToken(SharedSecret(text: "alice")), by: 1_000) { _ in } }
        bench.provider.failRenewals(.reauthenticationRequired)
        bench.on { $0.renew(by: 1) { _ in } }
        bench.provider.answerCalls(ApiAnswer(status: 401, headers: [], body: []))
        let said = Box<String>()
        bench.on {
            $0.call(ApiRequest(method: "GET", path: "/v2/user/alice"), by: 7) {
                switch $0 {
                case .success(let a): said.put("\(a.status)")
                case .failure(let r): said.put(r.kind.rawValue)
                }
            }
        }
        #expect(said.all == ["401"])
    }

    @Test func `a call that was made for one user is not made again as another`() {
        let bench = OwnerBench().start()
        // The fake admits paths by prefix, as social.plus's policy admits `/api/v3/me` for whoever is signed in.
        bench.on { $0.signIn(.signInToken(SharedSecret(text: "alice")), by: 1_000) { _ in } }
        bench.provider.hold()
        let requests = Box<RequestID>()
        bench.on { $0.identify(externalUserId: "ext-al", by: 1_000, ask: { r, _ in requests.put(r) }) { _ in } }
        bench.on { $0.identifyAnswered(requests.all[0], with: .success(.signInToken(SharedSecret(text: "al")))) }
        bench.provider.answerCalls(ApiAnswer(status: 401, headers: [], body: []))
        let answers = Box<Result<ApiAnswer, Refusal>>()
        bench.on { $0.call(ApiRequest(method: "POST", path: "/v2/user/alice"), by: 7) { answers.put($0) } }
        #expect(bench.provider.apiCalls.count == 1)
        #expect(bench.snapshot().facts.userId == "alice")
        bench.provider.release()
        bench.executor.runUntilIdle()
        #expect(bench.snapshot().facts.userId == "al")
        #expect(bench.provider.apiCalls.count == 1, "made for alice, made again as al")
        // Nothing of what alice's call has brought is for a caller who is served as al.
        guard case .failure(let refusal)? = answers.all.first else {
            Issue.record("answered")
            return
        }
        #expect(refusal.kind == .notSignedIn)
    }

    @Test func `a sign-out, a key and its user, all at once`() {
        let bench = OwnerBench().start()
        bench.on { $0.signIn(.signInToken(SharedSecret(text: "bob")), by: 1) { _ in } }
        let said = Box<String>()
        @Sendable func note(_ r: Result<Snapshot, Refusal>) {
            if case .failure(let f) = r { said.put(f.kind.rawValue) } else { said.put("ok") }
        }
        bench.owner.assumeIsolated { o in
            o.signOut(by: 1) { note($0) }
            o.signIn(
                .apiKey(key: SharedSecret(text: "sk_us_1"), userId: nil, environment: "sandbox", region: "us"),
                by: 1
            ) { note($0) }
            o.signIn(.apiKey(key: nil, userId: "alice", environment: nil, region: nil), by: 1) { note($0) }
        }
        bench.executor.runUntilIdle()
        #expect(said.all == ["ok", "ok", "ok"])
    }
}
