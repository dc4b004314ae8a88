import Testing

@testable import JunctionSession

/// One active user per installation: every combination of present session and credential.
struct SignInRulesTests {
    enum Present: CaseIterable {
        case none, terminated, healthy, pending, apiKey, configured
    }

    enum Handed: CaseIterable {
        case sameUser, otherUser, linkCode, apiKeyOfSameUser, apiKeyOfOtherUser, apiKeyAlone
    }

    enum Outcome: Equatable {
        case exchanges, succeedsWithoutCall, configures
        case refused(SessionError.Kind)
    }

    static let matrix: [(Present, Handed, Outcome)] = [
        (.none, .sameUser, .exchanges),
        (.none, .otherUser, .exchanges),
        (.none, .linkCode, .exchanges),
        (.none, .apiKeyOfSameUser, .exchanges),
        (.none, .apiKeyOfOtherUser, .exchanges),
        (.none, .apiKeyAlone, .configures),
        (.terminated, .sameUser, .exchanges),
        (.terminated, .otherUser, .exchanges),
        (.terminated, .linkCode, .exchanges),
        (.terminated, .apiKeyOfSameUser, .exchanges),
        (.terminated, .apiKeyOfOtherUser, .exchanges),
        (.terminated, .apiKeyAlone, .configures),
        (.healthy, .sameUser, .succeedsWithoutCall),
        (.healthy, .otherUser, .refused(.alreadySignedIn)),
        (.healthy, .linkCode, .refused(.alreadySignedIn)),
        (.healthy, .apiKeyOfSameUser, .succeedsWithoutCall),
        (.healthy, .apiKeyOfOtherUser, .refused(.alreadySignedIn)),
        (.healthy, .apiKeyAlone, .refused(.alreadySignedIn)),
        (.pending, .sameUser, .exchanges),
        (.pending, .otherUser, .refused(.alreadySignedIn)),
        (.pending, .linkCode, .exchanges),
        (.pending, .apiKeyOfSameUser, .exchanges),
        (.pending, .apiKeyOfOtherUser, .refused(.alreadySignedIn)),
        (.pending, .apiKeyAlone, .refused(.alreadySignedIn)),
        (.apiKey, .sameUser, .exchanges),
        (.apiKey, .otherUser, .refused(.incompatibleCredential)),
        (.apiKey, .linkCode, .refused(.alreadySignedIn)),
        (.apiKey, .apiKeyOfSameUser, .succeedsWithoutCall),
        (.apiKey, .apiKeyOfOtherUser, .refused(.alreadySignedIn)),
        (.apiKey, .apiKeyAlone, .succeedsWithoutCall),
        (.configured, .sameUser, .exchanges),
        (.configured, .otherUser, .exchanges),
        (.configured, .linkCode, .exchanges),
        (.configured, .apiKeyOfSameUser, .exchanges),
        (.configured, .apiKeyOfOtherUser, .exchanges),
        (.configured, .apiKeyAlone, .configures),
    ]

    @Test func `the matrix has every combination`() {
        #expect(Self.matrix.count == Present.allCases.count * Handed.allCases.count)
    }

    @Test(arguments: matrix)
    func `the sign-in rules decide about every credential beside every session`(
        present: Present,
        handed: Handed,
        outcome: Outcome
    ) {
        var bench = bench(present)
        let before = bench.machine.installation

        let request = bench.signIn(facts(handed))

        switch outcome {
        case .exchanges:
            #expect(bench.exchanges.count == 1)
            #expect(bench.reply(to: request) == nil)
        case .succeedsWithoutCall:
            #expect(bench.exchanges.isEmpty)
            #expect(bench.reply(to: request) == .done)
            #expect(bench.machine.installation == before)
        case .configures:
            #expect(bench.exchanges.isEmpty)
            #expect(bench.reply(to: request) == .done)
            #expect(bench.facts.flags == [.configured])
            #expect(bench.state == .notLoggedIn)
        case .refused(let kind):
            #expect(bench.exchanges.isEmpty)
            #expect(bench.refusal(of: request) == kind)
            #expect(bench.machine.installation == before)
        }
    }

    @Test func `a sign-in while another is in flight waits for it and then follows the rules`() {
        var bench = Bench()
        bench.signIn(.signInToken("alice"))
        let same = bench.signIn(.signInToken("alice"))
        let other = bench.signIn(.signInToken("bob"))
        #expect(bench.exchanges.count == 1)

        bench.grantExchange()

        #expect(bench.reply(to: same) == .done)
        #expect(bench.refusal(of: other) == .alreadySignedIn)
        #expect(bench.exchanges.isEmpty)
    }

    @Test func `a failed sign-in lets the next one try`() {
        var bench = Bench()
        let first = bench.signIn(.signInToken("alice"))
        let second = bench.signIn(.signInToken("bob"))

        bench.failExchange(.refused("The provider refused the Sign-In Token"))
        bench.grantExchange(of: "bob")

        #expect(bench.refusal(of: first) == .invalidCredential)
        #expect(bench.reply(to: second) == .done)
        #expect(bench.facts.userId == "bob")
    }

    @Test func `sign-ins that wait for their turn are refused while only a restart can change the provider`() {
        var bench = Bench.signedIn()
        bench.holdsWrites = true
        let signOut = bench.signOut()
        let (signIn, identify) = (bench.signIn(.signInToken("bob")), bench.identify("ext-bob"))
        let refusal = SessionError(.misconfigured, "The configuration names another provider")
        bench.perform(bench.machine.signInsRefused(refusal, now: bench.now))
        #expect(bench.refusal(of: signIn) == .misconfigured && bench.refusal(of: identify) == .misconfigured)
        bench.endWrites()
        #expect(bench.reply(to: signOut) == .done && bench.exchanges.isEmpty && bench.asked.isEmpty)
    }

    @Test func `Junction's user ids are compared without regard to case`() {
        var bench = Bench.signedIn("Alice")
        let request = bench.signIn(.signInToken("ALICE"))
        #expect(bench.reply(to: request) == .done)
        #expect(bench.facts.userId == "alice")
    }

    @Test(arguments: [
        (ExchangeFailure.refused("no"), SessionError.Kind.invalidCredential),
        (.terminated(code: "400312", message: "banned"), .sessionTerminated),
        (.unavailable(Unavailability("No answer")), .providerUnavailable),
        (.otherUser(.user("bob")), .alreadySignedIn),
    ])
    func `a failed exchange changes nothing`(failure: ExchangeFailure, kind: SessionError.Kind) {
        for present in Present.allCases {
            var bench = bench(present)
            let before = bench.machine.installation
            let request = bench.signIn(.signInToken("alice"))
            guard !bench.exchanges.isEmpty else { continue }

            bench.failExchange(failure)

            #expect(bench.refusal(of: request) == kind)
            #expect(bench.machine.installation == before)
        }
    }

    @Test func `a Sign-In Token migrates an API key session in place`() {
        var bench = Bench.withApiKey()
        #expect(bench.facts.flags == [.configured, .signedIn, .useApiKey])

        let request = bench.signIn(.signInToken("alice"))
        #expect(bench.state == .established)
        bench.grantExchange()

        #expect(bench.reply(to: request) == .done)
        #expect(bench.facts.flags == [.configured, .signedIn, .useSignInToken])
        #expect(bench.facts.scheme == .signInToken)
    }

    @Test func `a rotated API key of the same user replaces the old one`() {
        var bench = Bench.withApiKey()
        let request = bench.signIn(.apiKey("alice", key: bench.secret()))
        bench.grantExchange(scheme: .apiKey)
        #expect(bench.reply(to: request) == .done)
    }

    @Test func `only a sign-in of the same user ends a pending reauthentication`() {
        var bench = Bench.pendingReauthentication()
        #expect(bench.facts.flags.contains(.pendingReauthentication))
        #expect(bench.state == .established)

        let request = bench.signIn(.signInToken("alice"))
        bench.grantExchange()

        #expect(bench.reply(to: request) == .done)
        #expect(!bench.facts.flags.contains(.pendingReauthentication))
        #expect(bench.facts.renewal.phase == .scheduled)
    }

    @Test func `establishing is shown only when no user was signed in before`() {
        var fresh = Bench()
        fresh.signIn(.signInToken("alice"))
        #expect(fresh.state == .establishing)

        var migrating = Bench.withApiKey()
        migrating.signIn(.signInToken("alice"))
        #expect(migrating.state == .established)
    }

    @Test func `a sign-in without budget gets busy with retryAfter`() {
        var bench = Bench(callsPerMinute: 1)
        bench.signIn(.signInToken("alice"))
        bench.failExchange(.unavailable(Unavailability("No answer")))
        bench.pass(.seconds(53))
        let request = bench.signIn(.signInToken("alice"))
        #expect(bench.refusal(of: request) == .busy)
        #expect(bench.retryAfter(of: request) == .seconds(7))
        #expect(bench.exchanges.isEmpty)
        bench.signIn(.signInToken("alice"), by: 2_000)
        #expect(bench.exchanges.count == 1)
    }

    private func bench(_ present: Present) -> Bench {
        switch present {
        case .none: return Bench()
        case .terminated: return .terminated()
        case .healthy: return .signedIn()
        case .pending: return .pendingReauthentication()
        case .apiKey: return .withApiKey()
        case .configured:
            var bench = Bench()
            bench.signIn(.apiKeyAlone)
            return bench
        }
    }

    private func facts(_ handed: Handed) -> CredentialFacts {
        switch handed {
        case .sameUser: .signInToken("alice")
        case .otherUser: .signInToken("bob")
        case .linkCode: .linkCode
        case .apiKeyOfSameUser: .apiKey("alice")
        case .apiKeyOfOtherUser: .apiKey("bob")
        case .apiKeyAlone: .apiKeyAlone
        }
    }

    @Test func `a grant for another user than the credential names is refused and revoked`() {
        var bench = Bench()
        let request = bench.signIn(.signInToken("alice"))
        bench.grantExchange(of: "bob")
        #expect(bench.refusal(of: request) == .alreadySignedIn)
        #expect(bench.waitingRevocations.map(\.userId) == ["bob"])
        #expect(bench.state == .notLoggedIn)
    }

    @Test func `a grant for another user does not replace a session that needs reauthentication`() {
        var bench = Bench.pendingReauthentication()
        let q = bench.signIn(.signInToken("alice"))
        bench.grantExchange(of: "bob")
        #expect(bench.facts.userId == "alice", "\(String(describing: bench.reply(to: q)))")
    }

    @Test func `a refusal of the provider is reported, after a handler's answer too`() {
        var bench = Bench(mode: .handler)
        bench.signIn(.signInToken("alice"))
        bench.failExchange(.refused("It is used up"))
        let report = SessionEvent.exchangeEnded(.refused, Unavailability("It is used up", cause: .credential))
        #expect(bench.reports == [report])
        bench.register(1)
        bench.signIn(.registration(of: "alice"))
        bench.answerQuestion(.credential)
        bench.failExchange(.refused("It is used up"))
        #expect(bench.reports == [report, report])
    }

    @Test func `a sign-in that fails is reported with cause, host and remedy`() {
        var bench = Bench()
        bench.signIn(.signInToken("alice"))
        let timeout = Unavailability("No answer", cause: .timeout, host: "auth.example.com")
        bench.failExchange(.unavailable(timeout))

        let failure = bench.reports.first?.exchangeFailure
        #expect(failure?.cause == .timeout && failure?.host == "auth.example.com")
        #expect(failure?.message.hasPrefix("No answer: the daemon does not repeat it: sign in with the same") == true)
    }

    @Test(arguments: [
        ExchangeFailure.refused("It is used up"), .terminated(code: "invalid_token", message: "The user is deleted"),
    ])
    func `a refusal of the provider is reported with its host`(failure: ExchangeFailure) throws {
        var bench = Bench()
        bench.signIn(.signInToken("alice"))
        let attempt = try #require(bench.exchanges.last)

        bench.perform(bench.machine.exchangeFailed(attempt, failure, by: "auth.example.com", now: bench.now))

        let reason = bench.reports.first?.exchangeFailure
        #expect(reason?.host == "auth.example.com")
    }

    @Test func `a sign-in that no handler could help is reported`() {
        var bench = Bench(mode: .handler)
        bench.signIn(.registration(of: "alice"))

        let failure = bench.reports.first?.exchangeFailure
        #expect(failure?.cause == .handler)
        #expect(failure?.message.contains("no session handler is registered") == true)
    }

    @Test func `a configuration that does not fit the provider is reported as misconfigured, not as an outage`() {
        var bench = Bench()
        let request = bench.signIn(.signInToken("alice"))
        bench.failExchange(.unavailable(Unavailability("It answered invalid_client", cause: .configuration)))

        #expect(bench.refusal(of: request) == .misconfigured)
        let failure = bench.reports.first?.exchangeFailure
        #expect(failure?.cause == .configuration)
        #expect(failure?.message.contains("correct the configuration") == true)
    }

    @Test func `a refusal names the user who is signed in`() throws {
        var bench = Bench.signedIn()
        let request = bench.signIn(.signInToken("bob"))
        let refusal = try #require(bench.error(of: request))
        #expect(refusal.userId == "alice")
        #expect(refusal.message.contains("alice"))
    }
}
