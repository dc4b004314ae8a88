@testable import JunctionSession

extension Identity {
    static func user(_ name: String) -> Identity {
        Identity(userId: name, teamId: "team", environment: "sandbox", region: "us")
    }
}

extension CredentialFacts {
    static func signInToken(_ user: String) -> CredentialFacts {
        CredentialFacts(scheme: .signInToken, subject: .user(.user(user)))
    }

    /// A sign-in without a token, for which a handler is asked.
    static func registration(of user: String) -> CredentialFacts {
        CredentialFacts(scheme: .registration, subject: .user(.user(user)), needsHandler: true)
    }

    static let device = CredentialFacts(scheme: .device, subject: .unnamed)

    static let linkCode = CredentialFacts(scheme: .linkCode, subject: .unnamed)

    static func apiKey(_ user: String, key: SecretRef? = nil) -> CredentialFacts {
        let identity = Identity(userId: user, environment: "sandbox", region: "us")
        var facts = CredentialFacts(scheme: .apiKey, subject: .user(identity))
        facts.key = key
        return facts
    }

    static let apiKeyAlone = CredentialFacts(
        scheme: .apiKey,
        subject: .nobody(environment: "sandbox", region: "us")
    )
}

extension Bench {
    /// Switches to another user and grants the exchange. The write may be held.
    @discardableResult
    mutating func identify(switchingTo user: String) -> RequestID {
        let request = identify(ExternalUserId("ext-" + user), answering: .signInToken(user))
        grantExchange(of: user)
        return request
    }

    mutating func networkReturns() { perform(machine.networkChanged(now: now)) }

    /// Delivers an API answer which says that the user is banned or deleted.
    mutating func judge(_ verdict: Verdict, generation: UInt64? = nil) {
        perform(machine.apiCallJudged(verdict, generation: generation ?? machine.servedGeneration, now: now))
    }

    static func signedIn(
        _ user: String = "alice",
        life: Duration = .seconds(3_600),
        seed: UInt64 = 1,
        mode: RenewalMode = .automatic
    ) -> Bench {
        var bench = Bench(seed: seed, mode: mode)
        bench.life = life
        bench.signIn(.signInToken(user))
        bench.grantExchange(of: user)
        return bench
    }

    /// A sign-in that waits for the second handler, because the provider has refused the first one's token.
    static func withRefusedToken() -> (bench: Bench, request: RequestID) {
        var bench = Bench(mode: .handler)
        bench.register(1)
        bench.register(2)
        let request = bench.signIn(.registration(of: "alice"))
        bench.answerQuestion(.credential)
        bench.failExchange(.refused("The token has expired"))
        return (bench, request)
    }

    /// A user who has just signed out. The revocation is in flight.
    static func signedOut(_ user: String = "alice", life: Duration = .seconds(3_600)) -> Bench {
        var bench = signedIn(user, life: life)
        bench.signOut()
        return bench
    }

    /// A start with a record that cannot be read, and the content of its clear header.
    static func locked(in state: SessionState, userId: String = "alice") -> Bench {
        let header = Restoration.Header(
            generation: 3,
            edition: 0,
            provider: "junction",
            scheme: .signInToken,
            state: state,
            userId: userId
        )
        return Bench(
            .unreadable(Restoration.Unreadable(status: .locked, remedy: "No key", header: header, canSignIn: true))
        )
    }

    static func withApiKey(_ user: String = "alice") -> Bench {
        var bench = Bench()
        bench.signIn(.apiKey(user))
        bench.grantExchange(of: user, scheme: .apiKey)
        return bench
    }

    static func pendingReauthentication(_ user: String = "alice", mode: RenewalMode = .automatic) -> Bench {
        var bench = signedIn(user, mode: mode)
        if mode == .handler { bench.register(1) }
        bench.renew()
        if mode == .handler { bench.answerQuestion(.renew) }
        bench.failRenewal(.reauthenticationRequired)
        return bench
    }

    static func terminated() -> Bench {
        var bench = signedIn()
        bench.renew()
        bench.failRenewal(.terminated(code: "invalid_token", message: "The user was deleted"))
        return bench
    }

    /// A session with an expired token and a provider that does not answer.
    static func backingOff() -> Bench {
        var bench = signedIn(life: .seconds(60))
        bench.pass(.seconds(61))
        bench.failRenewal(.unavailable(Unavailability("No answer")))
        return bench
    }

    /// A session whose renewal has just failed, with minutes until the next attempt.
    static func longBackoff(life: Duration, mode: RenewalMode = .automatic) -> Bench {
        var bench = signedIn(life: life, mode: mode)
        if mode == .handler { bench.register(1) }
        bench.renew()
        for _ in 0..<9 {
            if mode == .handler { bench.answerQuestion(.renew) }
            bench.failRenewal(.busy)
            bench.passToNextAttempt()
        }
        if mode == .handler { bench.answerQuestion(.renew) }
        bench.failRenewal(.busy)
        return bench
    }

    /// A session in handler mode whose renewal is due, with these handlers.
    static func renewalDue(handlers: UInt64..., life: Duration = .seconds(3_600)) -> Bench {
        var bench = signedIn(life: life, mode: .handler)
        for handler in handlers { bench.register(handler) }
        bench.pass(life * 5 / 6)
        return bench
    }

    /// A session whose renewal is postponed, because its only handler was unable.
    static func postponed() -> Bench {
        var bench = signedIn(mode: .handler)
        bench.register(1)
        bench.renew()
        bench.answerQuestion(.unable)
        return bench
    }

    /// A session with an expired token and a postponed renewal. The handler of user 1,000 was unable.
    static func expiredAndPostponed() -> Bench {
        var bench = signedIn(life: .seconds(60), mode: .handler)
        bench.register(1, of: 1_000)
        bench.pass(.seconds(61))
        bench.answerQuestion(.unable)
        return bench
    }

    static func withEndlessToken() -> Bench { signedIn(life: WallTime.never - Bench().now.wall) }

    static func signedInByDevice() -> Bench {
        var bench = withCodes()
        bench.passToPoll()
        bench.grantPoll()
        return bench
    }

    /// A device sign-in with codes and a polling interval of five seconds.
    static func withCodes(_ prepare: (inout Bench) -> Void = { _ in }) -> Bench {
        var bench = Bench()
        prepare(&bench)
        bench.signIn(.device)
        bench.giveCodes()
        return bench
    }

    static func withCodesBesidePendingReauthentication() -> Bench { withCodes { $0 = .pendingReauthentication() } }

    /// Returns the machine that starts with the record that was written last, as after a restart of the daemon.
    ///
    /// - Parameters:
    /// - step: the step of the wall clock while the daemon is stopped.
    /// - rebooted: whether the computer has booted ten seconds before the start.
    func restarted(
        after downtime: Duration = .zero,
        clockSetBy step: Duration = .zero,
        rebooted: Bool = false,
        seed: UInt64 = 1,
        mode: RenewalMode = .automatic
    ) -> Bench {
        guard let record = written.last else { preconditionFailure("No record was written") }
        let uptime = rebooted ? Uptime(milliseconds: 10_000) : now.uptime + downtime
        let start = Moment(wall: now.wall + downtime + step, uptime: uptime)
        return Bench(seed: seed, at: start, mode: mode, .restored(record, SessionSecrets(), damaged: nil))
    }

    /// The session in the record that was written last.
    var storedSession: StoredSession? {
        if case .session(let stored)? = written.last?.content { stored } else { nil }
    }

    /// Whether the record has an intent after another detail of the session was written.
    mutating func storedIntent() -> Bool? {
        identify("ext-alice", answering: .signInToken("alice"))
        return storedSession?.renewalUnderWay
    }

    /// The reason of each revocation that was given up.
    var givenUpRevocations: [String] {
        reports.compactMap { if case .revocationGivenUp(let reason) = $0 { reason } else { nil } }
    }

    /// Whether a token request would get a token now.
    var isServed: Bool {
        var bench = self
        let request = bench.token()
        return bench.servedToken(to: request) != nil
    }

    /// Fails every renewal that leaves within this time. Returns their number.
    mutating func failRenewals(for duration: Duration, _ failure: RenewalFailure) -> Int {
        let end = now.uptime + duration
        var count = 0
        while count < 1_000 {
            while !renewals.isEmpty {
                failRenewal(failure)
                count += 1
            }
            guard let alarm = machine.nextAlarm(now: now), now.uptime + (alarm - now.wall) <= end else { break }
            pass(max(alarm - now.wall, .milliseconds(1)))
        }
        return count
    }
}

extension RenewalFailure {
    /// The request may have reached the provider.
    static let lost = unavailable(Unavailability("It answered 502", ambiguous: true))
    /// The provider has refused the request, and may accept the next one.
    static let busy = unavailable(Unavailability("It answered 503"))
    static let unreachable = unavailable(Unavailability("Connection refused"))
    static let busyForAnHour = unavailable(Unavailability("It answered 503", retryAfter: .seconds(3_600)))
    static let lostAndBusyForAnHour = unavailable(
        Unavailability("It answered 502", retryAfter: .seconds(3_600), ambiguous: true)
    )
}

extension Unavailability {
    static let offline = Unavailability("No answer")
}

extension SessionEvent {
    /// The reason of a failed exchange.
    var exchangeFailure: Unavailability? {
        if case .exchangeEnded(_, let failure) = self { failure } else { nil }
    }

    /// The outcome of a renewal, without its reason.
    var renewalOutcome: Outcome? {
        if case .renewalEnded(let outcome, _, _) = self { outcome } else { nil }
    }
}

extension Renewal {
    /// Returns the attempt of this request. `nil` if its outcome is no longer wanted.
    func sent(_ attempt: AttemptID) -> Attempt? {
        guard case .sending(let tried, _) = phase, tried.attempt == attempt else { return nil }
        return tried
    }
}
