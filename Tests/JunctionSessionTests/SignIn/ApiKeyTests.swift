import JunctionSecret
import JunctionTesting
import Testing

@testable import JunctionSession

/// Sessions with an API key, which is configured alone or with its user.
struct ApiKeyTests {
    @Test func `an API key is not renewed`() {
        var bench = Bench.withApiKey()
        #expect(bench.refusal { $0.renew() } == .unsupported)
        #expect(bench.refusal { $0.token() } == .unsupported)
        #expect(bench.facts.renewal.phase == .none)
    }

    @Test func `a restart keeps an API key that was configured`() {
        var bench = Bench()
        bench.signIn(.apiKeyAlone)
        let restarted = bench.restarted()
        #expect(restarted.facts.flags == [.configured])
        #expect(restarted.machine.configuredKey?.environment == "sandbox")
        #expect(restarted.machine.keyInUse != nil)
        #expect(restarted.machine.secretsInUse.count == 1)
    }

    @Test func `a second sign-in with the same API key makes no call`() {
        var bench = Bench(mode: .handler)
        bench.signIn(.apiKey("alice"))
        bench.grantExchange(scheme: .apiKey)
        #expect(bench.reply { $0.signIn(.apiKey("alice")) } == .done)
        #expect(bench.exchanges.isEmpty)
    }

    @Test func `the configured key is reported only if an API key is configured`() {
        #expect(Bench.withApiKey().machine.configuredKey?.environment == "sandbox")
        #expect(Bench.signedIn().machine.configuredKey == nil)
    }

    @Test func `an API key is configured first and completed with the user id alone`() {
        let bench = OwnerBench().start()
        let key = Credential.apiKey(
            key: SharedSecret(text: "sk_us_1"),
            userId: nil,
            environment: "sandbox",
            region: "us"
        )
        bench.on { $0.signIn(key, by: 1_000) { _ in } }
        #expect(bench.snapshot().facts.flags == [.configured])
        #expect(bench.snapshot().facts.state == .notLoggedIn)

        let completion = Credential.apiKey(key: nil, userId: "alice", environment: nil, region: nil)
        bench.on { $0.signIn(completion, by: 1_000) { _ in } }

        #expect(bench.snapshot().facts.flags == [.configured, .signedIn, .useApiKey])
        #expect(bench.store.kept?.secrets.apiKey?.text == "sk_us_1")
    }

    @Test func `a key and its user id, one after the other on one connection, are both accepted`() {
        let bench = OwnerBench().start()
        let kinds = Box<SessionError.Kind?>()
        @Sendable func note(_ result: Result<Snapshot, SessionError>) {
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

    @Test func `the last of two keys is kept`() {
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

    @Test func `a key that waits to be configured is kept`() {
        let bench = OwnerBench().start()
        let key = Credential.apiKey(
            key: SharedSecret(text: "sk_us_1"),
            userId: nil,
            environment: "sandbox",
            region: "us"
        )
        bench.provider.hold()
        bench.provider.failExchanges(.refused("no"))
        bench.on { $0.signIn(.signInToken(SharedSecret(text: "alice")), by: 1_000) { _ in } }
        bench.on { $0.signIn(key, by: 1_000) { _ in } }

        bench.provider.release()
        bench.executor.runUntilIdle()

        #expect(bench.snapshot().facts.flags == [.configured])
        #expect(bench.store.kept?.secrets.apiKey?.text == "sk_us_1")
    }

    @Test func `a sign-out, a key and its user id at the same time are all accepted`() {
        let bench = OwnerBench().start()
        bench.on { $0.signIn(.signInToken(SharedSecret(text: "bob")), by: 1) { _ in } }
        let said = Box<String>()
        @Sendable func note(_ r: Result<Snapshot, SessionError>) {
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
