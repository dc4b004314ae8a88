import Testing

@testable import JunctionSession

/// The token endpoint refuses the refresh token without an error code of RFC 6749.
struct UnexplainedRefusalTests {
    private static let unexplained: RenewalFailure = {
        var why = Unavailability("auth.example answered 400")
        why.isUnexplainedRefusal = true
        return .unavailable(why)
    }()

    /// The session's token has expired, and its renewal is in flight.
    private func dead() -> Bench {
        var bench = Bench.signedIn(life: .seconds(60))
        bench.pass(.seconds(60))
        #expect(bench.renewals.count == 1)
        return bench
    }

    /// Refuses every attempt without a reason until `duration` has passed. Returns the number of attempts.
    private func refuse(_ bench: inout Bench, for duration: Duration) -> Int {
        let end = bench.now.uptime + duration
        var attempts = 0
        while true {
            while !bench.renewals.isEmpty {
                bench.failRenewal(Self.unexplained)
                attempts += 1
            }
            guard let alarm = bench.machine.nextAlarm(now: bench.now) else { break }
            if bench.now.uptime + (alarm - bench.now.wall) > end { break }
            bench.passToAlarm()
        }
        bench.pass(end - bench.now.uptime)
        return attempts
    }

    private func isPending(_ bench: Bench) -> Bool { bench.facts.flags.contains(.pendingReauthentication) }

    // MARK: The verdict

    @Test func `many refusals in less than ten minutes are a transient failure`() {
        var bench = dead()

        let attempts = refuse(&bench, for: .seconds(599))

        #expect(attempts >= 3)
        #expect(!isPending(bench))
        #expect(bench.facts.renewal.phase == .backingOff)
        #expect(bench.facts.renewal.lastError == "providerUnavailable: auth.example answered 400")
    }

    @Test(
        arguments: [
            // The seconds between refusals, and the number of the refusal after which reauthentication is required.
            ([0, 0, 0, 0], nil), ([0, 2, 2, 595], nil), ([0, 2, 2, 596], 4), ([0, 600], nil), ([0, 300, 300], 3),
            ([0, 700, 1], 3), ([0, 1, 1, 1, 700], 5), ([0, 3_600, 0], 3),
        ] as [([Int], Int?)]
    )
    func `reauthentication is required after three refusals over ten minutes`(pauses: [Int], verdict: Int?) {
        var now = Bench().now
        var random = Randomness(seed: 1)
        let granted = Granted(
            identity: .user("alice"),
            scheme: .signInToken,
            life: Life(from: now, lasting: .seconds(1)),
            secrets: SecretRef(number: 1)
        )
        var session = Session(granted, externalUserId: nil, generation: 1, at: now, using: &random)
        var pending: Int?

        for (index, pause) in pauses.enumerated() {
            now = Moment(wall: now.wall + .seconds(pause), uptime: now.uptime + .seconds(pause))
            session.refusedWithoutReason(now)
            if session.reauthenticationPending, pending == nil { pending = index + 1 }
        }

        #expect(pending == verdict)
        #expect(session.stored(at: now).unexplainedRefusals?.count == pauses.count)
    }

    @Test func `after the verdict the session is tried once an hour, and a success clears the flag`() throws {
        var bench = dead()
        _ = refuse(&bench, for: .seconds(1_800))
        #expect(isPending(bench))
        #expect(bench.state == .tokenExpired)
        #expect(bench.refusal(of: { $0.token() }) == .reauthenticationRequired)
        #expect(bench.facts.renewal.lastError?.hasPrefix("reauthenticationRequired: ") == true)
        let isReported = bench.reports.contains { report in
            if case .renewalEnded(.reauthenticationRequired, _, _) = report { true } else { false }
        }
        #expect(isReported)

        #expect(refuse(&bench, for: .seconds(86_400)) == 24)
        bench.passToAlarm()
        bench.grantRenewal()

        #expect(!isPending(bench))
        #expect(bench.state == .established)
        #expect(bench.facts.renewal.failures == 0)
        let stored = try #require(bench.storedSession)
        #expect(stored.unexplainedRefusals == nil)
        #expect(!stored.reauthenticationPending)
    }

    @Test func `another transient failure meanwhile also waits for an hour`() {
        var bench = dead()
        _ = refuse(&bench, for: .seconds(1_800))
        while bench.renewals.isEmpty { bench.passToAlarm() }

        bench.failRenewal(.unavailable(Unavailability("No answer")))

        #expect(bench.facts.renewal.notBefore == bench.now.wall + .seconds(3_600))
        #expect(isPending(bench))
    }

    @Test func `the provider's own demand for reauthentication ends the attempts`() {
        var bench = dead()
        _ = refuse(&bench, for: .seconds(1_800))
        while bench.renewals.isEmpty { bench.passToAlarm() }

        bench.failRenewal(.reauthenticationRequired)
        bench.pass(.seconds(86_400))

        #expect(isPending(bench))
        #expect(bench.renewals.isEmpty)
    }

    @Test func `session renew does not wait for the hour, once in ten seconds`() {
        var bench = dead()
        _ = refuse(&bench, for: .seconds(1_800))

        let request = bench.renew()
        #expect(bench.renewals.count == 1)
        bench.failRenewal(Self.unexplained)

        #expect(bench.refusal(of: request) == .reauthenticationRequired)
        #expect(bench.message(of: request)?.contains("auth.example answered 400") == true)
        bench.renew()
        #expect(bench.renewals.isEmpty)
    }

    @Test func `a new credential of the same user clears the flag`() {
        var bench = dead()
        _ = refuse(&bench, for: .seconds(1_800))

        bench.signIn(.signInToken("alice"))
        bench.grantExchange()

        #expect(!isPending(bench))
        #expect(bench.state == .established)
    }

    // MARK: Refusals that count

    @Test func `a refusal while the token is valid does not count`() {
        var bench = Bench.signedIn(life: .seconds(86_400))
        bench.pass(.seconds(70_000))
        _ = refuse(&bench, for: .seconds(10_000))

        #expect(bench.facts.renewal.failures >= 3)
        #expect(!isPending(bench))
        #expect(bench.state == .established)
    }

    @Test func `a refusal by a wall clock that is behind does not count`() {
        var bench = Bench.signedIn(life: .seconds(86_400))
        bench.stepWall(.seconds(-7_200))
        #expect(bench.state == .tokenExpired)

        #expect(refuse(&bench, for: .seconds(3_000)) >= 3)

        #expect(!isPending(bench))
    }

    @Test func `the refusal of a refresh retry does not count`() throws {
        var bench = dead()
        bench.failRenewal(Self.unexplained)
        bench.pass(.seconds(700))
        #expect(bench.renewals.count == 1)
        // The answer is lost, and both refresh retries are refused.
        bench.failRenewal(.unavailable(Unavailability("Lost", ambiguous: true)))
        for _ in 0..<2 {
            while bench.renewals.isEmpty { bench.passToAlarm() }
            bench.failRenewal(Self.unexplained)
        }

        let stored = try #require(bench.storedSession)
        #expect(stored.unexplainedRefusals?.count == 1)
        #expect(!isPending(bench))
    }

    // MARK: Restarts and clocks

    @Test func `the count and the first refusal's time survive a restart`() {
        var bench = dead()
        #expect(refuse(&bench, for: .seconds(300)) >= 2)

        var after = bench.restarted(after: .seconds(300))
        #expect(after.renewals.count == 1)
        after.failRenewal(Self.unexplained)
        #expect(isPending(after))

        var later = after.restarted()
        #expect(isPending(later))
        #expect(later.renewals.isEmpty, "it is tried once an hour, over a restart too")
        later.passToAlarm()
        later.grantRenewal()
        #expect(!isPending(later))
    }

    @Test(arguments: [-86_400, 86_400] as [Int64])
    func `a wall clock that is set does not turn a few seconds into ten minutes, also across a restart`(step: Int64) {
        var bench = dead()
        bench.failRenewal(Self.unexplained)
        bench.stepWall(.seconds(step))
        _ = refuse(&bench, for: .seconds(20))
        #expect(!isPending(bench))

        var after = bench.restarted()
        _ = refuse(&after, for: .seconds(20))

        #expect(!isPending(after))
    }

    @Test(arguments: [false, true])
    func `a wall clock that was behind and is right after a restart does not turn a few seconds into ten minutes`(
        rebooted: Bool
    ) {
        var bench = dead()
        bench.failRenewal(Self.unexplained)
        bench.stepWall(.seconds(-86_400))
        _ = refuse(&bench, for: .seconds(20))
        #expect(!isPending(bench))

        var after = bench.restarted(clockSetBy: .seconds(86_400), rebooted: rebooted)
        #expect(refuse(&after, for: .seconds(20)) >= 1)

        #expect(!isPending(after))
    }

    /// The token has expired, the provider has answered `invalid_grant`, and a caller has requested another attempt.
    private func askedAgain() -> Bench {
        var bench = Bench()
        bench.life = .seconds(60)
        bench.signIn(.device)
        bench.giveCodes()
        bench.passToPoll()
        bench.grantPoll()
        bench.pass(.seconds(61))
        bench.failRenewal(.reauthenticationRequired)
        bench.pass(.seconds(3_600))
        #expect(bench.renewals.isEmpty)
        return bench
    }

    @Test func `one unexplained refusal does not replace the provider's own demand for reauthentication`() {
        var bench = askedAgain()
        let request = bench.renew()
        var unexplained = Unavailability("id.example answered 400")
        unexplained.isUnexplainedRefusal = true
        bench.failRenewal(.unavailable(unexplained))
        // The text "for ten minutes or longer without a reason" would be wrong here.
        #expect(bench.message(of: request)?.contains("ten minutes") != true)
        // There is no other request until a new credential comes.
        #expect(bench.failRenewals(for: .seconds(86_400), .unavailable(unexplained)) == 0)
    }
}
