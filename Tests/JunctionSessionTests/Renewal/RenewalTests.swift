import JunctionTesting
import Testing

@testable import JunctionSession

/// The effect of each outcome of a renewal, and the disk before and after it.
struct RenewalTests {
    @Test func `the intent is on disk before the request leaves, and the new token before it is served`() {
        var bench = Bench.signedIn()
        bench.holdsWrites = true

        bench.renew()
        #expect(bench.renewals.isEmpty)
        guard case .session(let noted)? = bench.heldWrites.first?.record.content else {
            Issue.record("no intent")
            return
        }
        #expect(noted.renewalUnderWay)
        bench.endWrite()
        #expect(bench.renewals.count == 1)

        bench.grantRenewal()
        #expect(bench.facts.accessToken?.generation == 1)
        bench.endWrite()
        #expect(bench.facts.accessToken?.generation == 2)
    }

    @Test func `a disk that refuses the intent does not stop the renewal`() {
        var bench = Bench.signedIn()
        bench.writeFailure = StoreFailure("No space left on device")
        let request = bench.renew()
        #expect(bench.renewals.count == 1)

        bench.grantRenewal()

        #expect(bench.reply(to: request) == .done)
        #expect(bench.facts.accessToken?.generation == 2)
        #expect(!bench.facts.storage.durable)
    }

    @Test func `a token that a full disk refused is written as soon as the disk accepts it`() {
        var bench = Bench.signedIn()
        bench.writeFailure = StoreFailure("No space left on device")
        bench.renew()
        bench.grantRenewal()

        bench.writeFailure = nil
        bench.pass(.seconds(60))

        #expect(bench.facts.storage.durable)
        #expect(bench.written.last?.generation == 2)
    }

    @Test(
        arguments: [
            (.userLogin, .userLogin, .userLogin), (.authorizationCode, .refreshToken, .authorizationCode),
            (.tokenExchange, .tokenExchange, .tokenExchange), (.tokenExchange, .refreshToken, .refreshToken),
        ] as [(Scheme, Scheme, Scheme)]
    )
    func `a renewal changes the scheme only if it brings the first refresh token`(
        before: Scheme,
        granted: Scheme,
        after: Scheme
    ) {
        var bench = Bench(mode: .handler)
        bench.register(1)
        bench.signIn(CredentialFacts(scheme: before, subject: .user(.user("alice"))))
        bench.grantExchange(scheme: before)
        bench.renew()
        bench.answerQuestion(.renew)
        bench.grantRenewal(scheme: granted)
        #expect(bench.facts.accessToken?.generation == 2)
        #expect(bench.facts.scheme == after)
    }

    @Test(arguments: [false, true])
    func `the reason why the user has to sign in again survives a restart`(isPresumed: Bool) {
        var bench = Bench.signedIn(life: .seconds(60))
        bench.pass(.seconds(61))
        while !bench.facts.flags.contains(.pendingReauthentication) {
            if bench.renewals.isEmpty { bench.passToNextAttempt() }
            var refusal = Unavailability("It answered 400")
            refusal.isUnexplainedRefusal = true
            bench.failRenewal(isPresumed ? .unavailable(refusal) : .reauthenticationRequired)
        }
        let restarted = bench.restarted(after: .seconds(2))
        let words = isPresumed ? "without a reason: sign in" : "wants the user to sign in again"
        #expect(restarted.facts.renewal.lastError?.hasPrefix("reauthenticationRequired: ") == true)
        #expect(restarted.facts.renewal.lastError?.contains(words) == true)
    }

    @Test func `the process does not end before a renewal in flight`() {
        var bench = Bench.signedIn()
        #expect(!bench.machine.isBusy)
        bench.renew()
        #expect(bench.renewals.count == 1)
        #expect(bench.machine.isBusy)
        bench.failRenewal(.unavailable(Unavailability("Busy")))
        #expect(!bench.machine.isBusy)
    }

    @Test(arguments: [true, false])
    func `a refusal closes the intent on disk, a lost answer does not`(isAmbiguous: Bool) {
        var bench = Bench.signedIn()
        bench.renew()
        bench.failRenewal(.unavailable(Unavailability("No token", ambiguous: isAmbiguous)))
        #expect(bench.storedIntent() == isAmbiguous)
        #expect(bench.reports.last?.renewalOutcome == .unavailable)
    }

    @Test func `a grant for another user is not accepted`() {
        var bench = Bench.signedIn("alice")
        let request = bench.renew()
        bench.grantLate(bench.renewals[0], of: "bob")
        #expect(bench.refusal(of: request) == .providerUnavailable)
        #expect(bench.facts.userId == "alice")
        #expect(bench.machine.secretsInUse == [bench.machine.servedSecrets!])
        #expect(bench.written.last?.generation == 1)
    }

    @Test func `in automatic mode a refused answer backs off`() {
        var bench = Bench.signedIn()
        let request = bench.renew()
        bench.failRenewal(.answerRefused("There was none"))
        #expect(bench.refusal(of: request) == .providerUnavailable)
        #expect(bench.facts.renewal.phase == .backingOff)
        #expect(bench.reports.contains { $0.renewalOutcome == .refused })
    }

    @Test func `in automatic mode a registration that is forgotten twice backs off`() {
        var bench = Bench.signedIn()
        bench.register(1)
        bench.renew()
        bench.failRenewal(.registrationForgotten)
        #expect(bench.facts.renewal.phase == .inFlight)
        bench.failRenewal(.registrationForgotten)
        #expect(bench.facts.renewal.phase == .backingOff)
        #expect(bench.everAsked.isEmpty)
    }

    @Test func `in automatic mode a renewal that lacks an app's token says how to have an app asked`() {
        var bench = Bench.signedIn()
        bench.renew()
        bench.failRenewal(.answerRefused("The provider wants an auth token for this user"))
        #expect(bench.facts.renewal.phase == .backingOff)
        #expect(
            bench.facts.renewal.lastError
                == "providerUnavailable: The provider wants an auth token for this user: set renewal.mode = \"handler\" and "
                + "restart junctiond, so that the daemon asks an app for the token"
        )
    }

    @Test(arguments: [RenewalMode.automatic, .handler])
    func `a self-signed session registers again without asking a handler`(mode: RenewalMode) {
        var bench = Bench(mode: mode)
        bench.signIn(CredentialFacts(scheme: .selfSigned, subject: .user(.user("alice"))))
        bench.grantExchange(scheme: .selfSigned)
        bench.register(1)
        let request = bench.renew()
        bench.failRenewal(.registrationForgotten)
        #expect(bench.reports.last?.renewalOutcome == .refused)
        #expect(bench.everAsked.isEmpty)
        bench.grantRenewal()
        #expect(bench.reply(to: request) == .done)
    }

    @Test func `a renewal that fails before the token ends leaves the session as it is`() {
        var bench = Bench.renewalDue(handlers: 1)
        bench.answerQuestion(.renew)
        #expect(bench.state == .established)
        bench.failRenewal(.unavailable(Unavailability("No network")))
        #expect(bench.state == .established)
        #expect(bench.isServed)
        #expect(bench.facts.renewal.phase == .backingOff)
    }

    @Test func `a verdict of the provider ends and erases the session, with its reason`() {
        var bench = Bench.signedIn()
        let request = bench.renew()
        bench.failRenewal(.terminated(code: "invalid_token", message: "The user was deleted"))

        #expect(bench.refusal(of: request) == .sessionTerminated)
        #expect(bench.state == .terminated)
        #expect(bench.facts.termination?.code == "invalid_token")
        #expect(!bench.facts.flags.contains(.signedIn))
        #expect(bench.refusal { $0.token() } == .sessionTerminated)

        let restarted = bench.restarted()
        #expect(restarted.state == .terminated)
        #expect(restarted.facts.termination?.code == "invalid_token")
    }

    @Test(arguments: ["400312", "400100"])
    func `a verdict after the token has ended ends the session too`(code: String) {
        var bench = Bench.signedIn(life: .seconds(60), mode: .handler)
        bench.pass(.seconds(61))
        bench.register(1)
        bench.answerQuestion(.renew)
        #expect(bench.state == .tokenExpired)
        bench.failRenewal(.terminated(code: code, message: "Banned, or deleted"))
        #expect(bench.state == .terminated)
        #expect(bench.facts.termination?.code == code)
    }

    @Test(arguments: [
        RenewalFailure.unavailable(Unavailability("No network")),
        .unavailable(Unavailability("It answered 500", ambiguous: true)), .answerRefused("Malformed"),
        .registrationForgotten, .reauthenticationRequired,
    ])
    func `any other failure after the token has ended keeps the user signed in`(failure: RenewalFailure) {
        var bench = Bench.signedIn(life: .seconds(60), mode: .handler)
        bench.pass(.seconds(61))
        bench.register(1)
        bench.answerQuestion(.renew)
        bench.failRenewal(failure)
        #expect(bench.state == .tokenExpired)
        #expect(bench.facts.flags.contains(.signedIn))
        #expect(bench.facts.userId == "alice")
    }

    @Test func `the end of one session does not affect the renewals of the next`() {
        var banned = Bench.renewalDue(handlers: 1)
        banned.answerQuestion(.renew)
        banned.failRenewal(.terminated(code: "400312", message: "Banned"))
        var expired = Bench.signedIn(life: .seconds(60), mode: .handler)
        expired.register(1)
        expired.pass(.seconds(61))
        expired.answerQuestion(.unable)
        expired.signOut()
        var signedOut = Bench.renewalDue(handlers: 1)
        signedOut.answerQuestion(.renew)
        signedOut.signOut()

        for var bench in [banned, expired, signedOut] {
            bench.life = .seconds(3_600)
            let request = bench.signIn(.signInToken("bob"))
            bench.grantExchange(of: "bob")
            #expect(bench.reply(to: request) == .done)
            bench.pass(.seconds(3_000))
            bench.answerQuestion(.renew)
            bench.grantRenewal()
            #expect(bench.isServed)
        }
    }

    @Test(arguments: [(3_000, true), (3_599, true), (3_600, false), (4_000, false)] as [(Int64, Bool)])
    func `an access token is sent with a renewal while it is valid, with its end`(age: Int64, goesAlong: Bool) {
        let bench = OwnerBench(rules: RenewalRules(mode: .handler)).start().signIn()
        bench.pass(.seconds(age))

        let handler = bench.register()
        handler.answer(.renew)

        #expect(bench.provider.renewalCalls == 1)
        #expect((bench.provider.renewalSecrets.last?.accessToken != nil) == goesAlong)
        #expect(bench.provider.renewalSecrets.last?.accessTokenEndsAt != nil)
    }
}
