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
        bench.signIn(.apiKey("sk_us_1"))
        #expect(bench.snapshot().facts.flags == [.configured])
        #expect(bench.snapshot().facts.state == .notLoggedIn)

        bench.signIn(.apiKey(nil, of: "alice"))

        #expect(bench.snapshot().facts.flags == [.configured, .signedIn, .useApiKey])
        #expect(bench.store.kept?.secrets.apiKey?.text == "sk_us_1")
    }

    /// Makes these sign-ins at the same time, after a sign-out if there is a session. Returns their errors.
    private func signInAtOnce(_ credentials: Credential..., in bench: OwnerBench) -> [SessionError?] {
        let answers = Answers<Snapshot>()
        bench.owner.assumeIsolated { owner in
            if owner.snapshot.facts.userId != nil { owner.signOut(by: 1) { answers.put($0) } }
            for credential in credentials { owner.signIn(credential, by: 1) { answers.put($0) } }
        }
        bench.executor.runUntilIdle()
        return answers.errors
    }

    @Test(arguments: [false, true])
    func `a key and its user id at the same time are both accepted, also behind a sign-out`(isSignedIn: Bool) {
        let bench = OwnerBench().start()
        if isSignedIn { bench.signIn("bob") }

        let errors = signInAtOnce(.apiKey("sk_us_1"), .apiKey(nil, of: "alice"), in: bench)

        #expect(errors.allSatisfy { $0 == nil } && errors.count == (isSignedIn ? 3 : 2))
        if !isSignedIn { #expect(bench.store.kept?.secrets.apiKey?.text == "sk_us_1") }
    }

    @Test func `the last of two keys is kept`() {
        let bench = OwnerBench().start()

        _ = signInAtOnce(.apiKey("sk_us_1", of: "alice"), .apiKey("sk_us_2", of: "alice"), in: bench)

        #expect(bench.store.kept?.secrets.apiKey?.text == "sk_us_2")
    }

    @Test func `a key that waits to be configured is kept`() {
        let bench = OwnerBench().start()
        bench.provider.hold()
        bench.provider.failExchanges(.refused("no"))
        bench.signIn("alice")
        bench.signIn(.apiKey("sk_us_1"))

        bench.release()

        #expect(bench.snapshot().facts.flags == [.configured])
        #expect(bench.store.kept?.secrets.apiKey?.text == "sk_us_1")
    }
}
