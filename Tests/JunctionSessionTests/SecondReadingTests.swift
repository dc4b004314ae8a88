import JunctionSecret
import JunctionTesting
import Synchronization
import Testing

@testable import JunctionSession

/// The sequences that a second reading of the heart found, each by name.
struct SecondReadingTests {

    /// The provider answers 502 until the replays are used up, and then nobody can help.
    private func postponedAfterReplays() -> Bench {
        var bench = Bench.signedIn(mode: .handler)
        bench.register(1)
        bench.pass(.seconds(3_000))
        bench.answerQuestion(.renew)
        for _ in 0..<7 {
            bench.failRenewal(.lost)
            if bench.machine.renewal.isReplaying { bench.passToNextAttempt() }
        }
        bench.passToNextAttempt()
        bench.answerQuestion(.unable)
        return bench
    }

    @Test func `a postponement closes the intent: a restart waits it out and sends nothing`() {
        let bench = postponedAfterReplays()
        #expect(bench.facts.renewal.phase == .postponed)
        let record = bench.written.last!
        var restarted = Bench(at: bench.now, mode: .handler, .restored(record, SessionSecrets(), damaged: nil))
        restarted.register(2)
        #expect(restarted.renewals.isEmpty)
        #expect(restarted.facts.renewal.phase == .postponed)
        restarted.pass(.seconds(599))
        #expect(restarted.everAsked.isEmpty)
    }

    @Test func `a postponement beside an open intent, as an older release wrote it, outlives the replay`() {
        let bench = postponedAfterReplays()
        var record = bench.written.last!
        guard case .session(var stored) = record.content else {
            Issue.record("nobody is signed in")
            return
        }
        stored.renewalUnderWay = true
        record.content = .session(stored)
        for isGranted in [false, true] {
            var restarted = Bench(at: bench.now, mode: .handler, .restored(record, SessionSecrets(), damaged: nil))
            restarted.register(2)
            #expect(restarted.renewals.count == 1)
            if isGranted {
                restarted.grantRenewal()
                #expect(restarted.facts.renewal.phase == .scheduled)
                continue
            }
            for _ in 0..<3 where !restarted.renewals.isEmpty {
                restarted.failRenewal(.busy)
                if restarted.facts.renewal.phase != .postponed { restarted.passToNextAttempt() }
            }
            #expect(restarted.facts.renewal.phase == .postponed)
            restarted.pass(.seconds(500))
            #expect(restarted.everAsked.isEmpty)
        }
    }

    @Test func `a note under a wrong clock does not make a dead token live after the next restart`() {
        let bench = Bench.signedIn()
        let first = Moment(wall: WallTime(milliseconds: 60_000), uptime: Uptime(milliseconds: 60_000))
        let booted = Bench(at: first, .restored(bench.written.last!, SessionSecrets(), damaged: nil))
        #expect(booted.state == .tokenExpired)
        let second = Moment(wall: WallTime(milliseconds: 120_000), uptime: Uptime(milliseconds: 60_000))
        var again = Bench(at: second, .restored(booted.written.last!, SessionSecrets(), damaged: nil))
        #expect(again.state == .tokenExpired)
        let request = again.token()
        #expect(again.reply(to: request) == nil)
    }

    @Test func `a clock set back does not move the renewal past the end of the token`() {
        var late = 0
        for seed in 0..<20 as Range<UInt64> {
            var bench = Bench.signedIn(seed: seed)
            bench.pass(.seconds(1_500))
            bench.stepWall(.seconds(-1_490))
            let end = bench.machine.standing.session!.end(bench.now)!
            if bench.facts.renewal.notBefore! >= end { late += 1 }
        }
        #expect(late == 0)
    }

    @Test func `a caller does not use the last replay up before the outage is over`() {
        var closed = 0
        for seed in 0..<100 as Range<UInt64> {
            var bench = Bench.signedIn(life: .seconds(60), seed: seed)
            bench.pass(.seconds(61))
            for _ in 0..<8 {
                bench.failRenewal(.busy)
                bench.passToNextAttempt()
            }
            let sent = bench.now.uptime
            bench.failRenewal(.lost)
            bench.passToNextAttempt()
            bench.failRenewal(.busy)
            bench.pass(.seconds(10))
            bench.token()
            guard bench.renewals.count == 1 else { continue }
            let at = bench.now.uptime
            bench.failRenewal(.busy)
            // 12 s after the first was sent, the window (25 s) is closed.
            let delay = bench.facts.renewal.notBefore! - bench.now.wall
            if bench.now.uptime - sent < .seconds(13), (at + delay) - sent > .seconds(25) { closed += 1 }
        }
        #expect(closed == 0)
    }

    @Test func `an answer with another user's session is ambiguous`() {
        var bench = Bench.signedIn()
        bench.renew()
        for _ in 0..<8 where !bench.renewals.isEmpty {
            bench.failRenewal(.busy)
            bench.passToNextAttempt()
        }
        bench.grantLate(bench.renewals[0], of: "bob")
        #expect(bench.machine.renewal.isReplaying)
        #expect(bench.facts.renewal.notBefore! - bench.now.wall <= .seconds(2))
    }

    @Test func `an intent that used an answer asks the handler again at start`() {
        var bench = Bench.signedIn(mode: .handler)
        bench.register(1)
        bench.renew()
        bench.answerQuestion(.credential)
        #expect(bench.renewals.count == 1)
        var restarted = bench.restarted(mode: .handler)
        restarted.register(2)
        #expect(restarted.everAsked.count == 1)
    }

    @Test func `a renewal under way while reauthentication is pending is shown`() {
        var bench = Bench.signedIn(mode: .handler)
        bench.register(1)
        bench.renew()
        bench.answerQuestion(.renew)
        bench.failRenewal(.reauthenticationRequired)
        bench.pass(.seconds(11))
        bench.renew()
        #expect(bench.questions.count == 1)
        #expect(bench.facts.renewal.phase == .inFlight)
        bench.answerQuestion(.credential)
        bench.failRenewal(.busy)
        #expect(bench.facts.renewal.phase == .backingOff)
        let before = bench.machine.nextAlarm(now: bench.now)
        bench.pass(.seconds(5))
        #expect(
            bench.renewals.count == 1,
            "the auth token is kept and never used again by itself; alarm \(String(describing: before))"
        )
    }

    @Test func `a round keeps its turn after unable`() {
        var bench = Bench.signedIn(mode: .handler)
        bench.register(1)
        bench.register(2)
        bench.pass(.seconds(3_000))
        let request = bench.identify("ext-bob")
        bench.answer(
            request,
            .success(.registration(of: "bob"))
        )
        #expect(bench.questions.last?.question.reason == .expiring)
        bench.answerQuestion(.unable)
        #expect(bench.questions.last?.question.reason == .expiring)
    }

    @Test func `reconcile does not know who is being signed out`() {
        var bench = Bench.signedIn()
        bench.holdsWrites = true
        bench.signOut()
        #expect(bench.machine.reconciliation(withUserId: "alice") == .signIn)
        #expect(bench.machine.configuredKey == nil)
    }

    // MARK: Owner

    @Test func `sign-ins that wait for their turn cannot pass the limit of provider calls`() {
        let bench = OwnerBench(callsPerMinute: 2).start()
        bench.provider.failExchanges(
            .refused("1"),
            .refused("2"),
            .refused("3"),
            .refused("4"),
            .refused("5"),
            .refused("6")
        )
        bench.owner.assumeIsolated { owner in
            for user in 0..<6 { owner.signIn(.signInToken(SharedSecret(text: "u\(user)")), by: 1_000) { _ in } }
        }
        bench.executor.runUntilIdle()
        #expect(bench.provider.exchangeCalls == 2)
    }

    @Test func `API calls that reach no network are not counted`() {
        let bench = OwnerBench(callsPerMinute: 2).start()
        let kinds = Box<Refusal.Kind?>()
        for _ in 0..<3 {
            bench.on {
                $0.call(ApiRequest(method: "GET", path: "/v2/user/alice"), by: 1_000) {
                    if case .failure(let refusal) = $0 { kinds.put(refusal.kind) }
                }
            }
        }
        #expect(kinds.all == [.notSignedIn, .notSignedIn, .notSignedIn])
        bench.on {
            $0.signIn(.signInToken(SharedSecret(text: "alice")), by: 1_000) {
                if case .failure(let refusal) = $0 { kinds.put(refusal.kind) }
            }
        }
        #expect(kinds.all.count == 3)
        #expect(bench.provider.apiCalls.isEmpty)
    }

    @Test func `an API call's retry after a 401 belongs to the call, and the next call is the one too many`() {
        let bench = OwnerBench(callsPerMinute: 1).start()
        bench.on { $0.signIn(.signInToken(SharedSecret(text: "alice")), by: 1_000) { _ in } }
        bench.provider.answerCalls(ApiAnswer(status: 401, headers: [], body: []))
        let outcomes = Box<Result<ApiAnswer, Refusal>>()

        for _ in 0..<2 {
            bench.on { $0.call(ApiRequest(method: "GET", path: "/v2/user/alice"), by: 7) { outcomes.put($0) } }
        }

        #expect(outcomes.all.map { try? $0.get().status } == [200, nil])
        #expect(bench.provider.apiCalls.count == 2)
        #expect(bench.provider.renewalCalls == 1)
        guard case .failure(let refusal)? = outcomes.all.last else { return }
        #expect(refusal.kind == .busy)
        #expect(refusal.retryAfter == .seconds(60))
    }

    @Test func `a 401 whose renewal the user's limit prevents is busy, with the time to wait`() {
        let bench = OwnerBench(callsPerMinute: 1).start()
        bench.on { $0.signIn(.signInToken(SharedSecret(text: "alice")), by: 7) { _ in } }
        bench.provider.answerCalls(ApiAnswer(status: 401, headers: [], body: []))
        let outcomes = Box<Result<ApiAnswer, Refusal>>()

        bench.on { $0.call(ApiRequest(method: "GET", path: "/v2/user/alice"), by: 7) { outcomes.put($0) } }

        guard case .failure(let refusal)? = outcomes.all.first else {
            Issue.record("\(outcomes.all)")
            return
        }
        #expect(refusal.kind == .busy)
        #expect(refusal.retryAfter == .seconds(60))
        #expect(bench.provider.renewalCalls == 0)
    }

    @Test func `API calls and calls of the session are counted apart`() {
        let bench = OwnerBench(callsPerMinute: 3).start()
        bench.on { $0.signIn(.signInToken(SharedSecret(text: "alice")), by: 7) { _ in } }
        let kinds = Box<Refusal.Kind?>()
        @Sendable func note<Answer>(_ outcome: Result<Answer, Refusal>) {
            if case .failure(let refusal) = outcome { kinds.put(refusal.kind) } else { kinds.put(nil) }
        }

        for _ in 0..<4 { bench.on { $0.call(ApiRequest(method: "GET", path: "/v2/user/alice"), by: 7) { note($0) } } }
        for _ in 0..<3 { bench.on { $0.renew(by: 7) { note($0) } } }

        // The sign-in is one of the session's.
        #expect(kinds.all == [nil, nil, nil, .busy, nil, nil, .busy])
    }

    @Test func `a registration that no handler could complete is not counted`() {
        let bench = OwnerBench(callsPerMinute: 1).start()
        let kinds = Box<Refusal.Kind?>()
        for _ in 0..<2 {
            bench.on {
                $0.signIn(.registration(userId: "bob", token: nil), by: 1_000) {
                    if case .failure(let refusal) = $0 { kinds.put(refusal.kind) }
                }
            }
        }
        #expect(bench.provider.exchangeCalls == 0)
        #expect(!kinds.all.contains(.busy))
    }

    @Test func `each announcement has a larger revision, also when a callback calls back in`() {
        let bench = OwnerBench().start()
        let owner = bench.owner
        bench.on {
            $0.signIn(.signInToken(SharedSecret(text: "alice")), by: 1_000) { _ in
                owner.assumeIsolated { $0.renew(by: 1_000) { _ in } }
            }
        }
        let revisions = bench.observer.snapshots.map(\.revision)
        #expect(
            Set(revisions).count == revisions.count,
            "\(bench.observer.snapshots.map { "\($0.revision) \($0.facts.state) \($0.facts.renewal.phase)" })"
        )
    }

    @Test func `a sign-in that succeeded is answered with the state that it brought`() {
        let bench = OwnerBench().start()
        let owner = bench.owner
        let tokens = Box<Result<ServedToken, Refusal>>()
        bench.provider.hold()
        bench.owner.assumeIsolated { o in
            o.signIn(.signInToken(SharedSecret(text: "alice")), by: 1_000) { _ in
                owner.assumeIsolated { $0.signOut(by: 1_000) { _ in } }
            }
            o.token(by: 1_000) { tokens.put($0) }
        }
        bench.executor.runUntilIdle()
        bench.provider.release()
        bench.executor.runUntilIdle()
        #expect(tokens.all.count == 1)
        let revisions = bench.observer.snapshots.map(\.revision)
        #expect(
            Set(revisions).count == revisions.count,
            "\(bench.observer.snapshots.map { "\($0.revision) \($0.facts.state)" })"
        )
    }

    @Test func `a second answer to identify changes nothing`() {
        let bench = OwnerBench().start()
        let requests = Box<RequestID>()
        bench.provider.hold()
        bench.on {
            $0.identify(externalUserId: "ext-alice", by: 1_000, ask: { request, _ in requests.put(request) }) { _ in }
        }
        // Another sign-in takes the turn meanwhile, and will fail.
        bench.provider.failExchanges(.refused("no"))
        bench.on { $0.signIn(.signInToken(SharedSecret(text: "carol")), by: 1_000) { _ in } }
        bench.on { $0.identifyAnswered(requests.all[0], with: .success(.signInToken(SharedSecret(text: "alice")))) }
        bench.on { $0.identifyAnswered(requests.all[0], with: .success(.signInToken(SharedSecret(text: "bob")))) }
        bench.provider.release()
        bench.executor.runUntilIdle()
        #expect(bench.snapshot().facts.userId == "alice")
        #expect(bench.snapshot().facts.externalUserId == "ext-alice")
    }

    @Test func `configure and complete, one after the other on one connection`() {
        let bench = OwnerBench().start()
        let kinds = Box<Refusal.Kind?>()
        @Sendable func note(_ result: Result<Snapshot, Refusal>) {
            if case .failure(let refusal) = result { kinds.put(refusal.kind) } else { kinds.put(nil) }
        }
        bench.owner.assumeIsolated { owner in
            owner.signIn(
                .apiKey(key: SharedSecret(text: "sk_us_1"), userId: nil, environment: "sandbox", region: "us"),
                by: 1
            ) {
                note($0)
            }
            owner.signIn(.apiKey(key: nil, userId: "alice", environment: nil, region: nil), by: 1) { note($0) }
        }
        bench.executor.runUntilIdle()
        #expect(kinds.all == [nil, nil])
        #expect(bench.store.kept?.secrets.apiKey?.text == "sk_us_1")
    }

    @Test func `the last of two keys counts`() {
        let bench = OwnerBench().start()
        bench.owner.assumeIsolated { owner in
            for key in ["sk_us_1", "sk_us_2"] {
                owner.signIn(
                    .apiKey(key: SharedSecret(text: key), userId: "alice", environment: "sandbox", region: "us"),
                    by: 1
                ) { _ in }
            }
        }
        bench.executor.runUntilIdle()
        #expect(bench.store.kept?.secrets.apiKey?.text == "sk_us_2")
    }
}
extension SecondReadingTests {

    @Test func `a binding that was told was written, also when a switch comes right after it`() {
        var bench = Bench.signedIn()
        bench.holdsWrites = true
        bench.renew()
        let bound = bench.identify("ext-alice")
        bench.answer(bound, .success(.signInToken("alice")))
        bench.identify(switchingTo: "bob")
        bench.endWrites()
        let wasBound = bench.written.contains {
            if case .session(let s) = $0.content { s.externalUserId == "ext-alice" } else { false }
        }
        #expect(bench.reply(to: bound) != .identified(.unchanged) || wasBound)
    }
}
