import Testing

@testable import JunctionSession

/// The transition table: every situation and every event, with the state that follows.
struct TransitionTableTests {
    enum Situation: String, CaseIterable {
        case notLoggedIn, configured, establishing, established, renewing, pending, tokenExpired, backingOff, apiKey
        case terminated, locked, unavailable
    }

    enum Event: String, CaseIterable {
        case signInGranted, signInRefused, exchangeGranted, exchangeFailed, renewalGranted, renewalFailed
        case reauthenticationDemanded, userDeleted, tokenEnds, alarm, clockJumps, signOut, writeFails
    }

    /// The state after each event. If a situation is missing, the event changes nothing in it.
    static let table: [Event: [Situation: SessionState]] = [
        .signInGranted: [
            .notLoggedIn: .established, .configured: .established, .establishing: .established,
            .established: .established, .renewing: .established, .pending: .established, .tokenExpired: .tokenExpired,
            .backingOff: .tokenExpired, .apiKey: .established, .terminated: .established, .locked: .established,
        ],
        .signInRefused: [.establishing: .notLoggedIn],
        .exchangeGranted: [.establishing: .established],
        .exchangeFailed: [.establishing: .notLoggedIn],
        .renewalGranted: [.renewing: .established, .tokenExpired: .established],
        .renewalFailed: [:],
        .reauthenticationDemanded: [:],
        .userDeleted: [.renewing: .terminated, .tokenExpired: .terminated],
        .tokenEnds: [.established: .tokenExpired, .renewing: .tokenExpired, .pending: .tokenExpired],
        .alarm: [:],
        .clockJumps: [:],
        .signOut: Dictionary(uniqueKeysWithValues: Situation.allCases.map { ($0, .notLoggedIn) }),
        .writeFails: [:],
    ]

    @Test(arguments: Situation.allCases)
    func `every event leads to the state in the table`(situation: Situation) {
        for event in Event.allCases {
            var bench = bench(situation)
            let expected = Self.table[event]?[situation] ?? bench.state

            perform(event, on: &bench)

            #expect(bench.state == expected, "\(situation.rawValue) × \(event.rawValue)")
        }
    }

    @Test(arguments: Situation.allCases)
    func `a stale answer changes nothing`(situation: Situation) {
        var bench = bench(situation)
        let before = bench.machine
        let stale = AttemptID(number: 9_999)

        let effects =
            bench.machine.exchangeFailed(stale, .refused("late"), now: bench.now)
            + bench.machine.renewalFailed(stale, .reauthenticationRequired, now: bench.now)
            + bench.machine.identifyAnswered(RequestID(number: 9_999), .success(.linkCode), now: bench.now)

        #expect(effects.isEmpty)
        #expect(bench.machine == before)
        let granted = bench.granted("eve")
        #expect(bench.machine.exchangeSucceeded(stale, granted, now: bench.now).isEmpty)
        #expect(bench.machine.renewalSucceeded(stale, granted, now: bench.now).isEmpty)
        #expect(bench.machine == before)
    }

    @Test(arguments: Situation.allCases)
    func `no alarm lies in the past`(situation: Situation) {
        let bench = bench(situation)
        if let due = bench.machine.nextAlarm(now: bench.now) { #expect(due > bench.now.wall) }
    }

    private func bench(_ situation: Situation) -> Bench {
        switch situation {
        case .notLoggedIn: return Bench()
        case .configured:
            var bench = Bench()
            bench.signIn(.apiKeyAlone)
            return bench
        case .establishing:
            var bench = Bench()
            bench.signIn(.signInToken("alice"))
            return bench
        case .established: return .signedIn()
        case .renewing:
            var bench = Bench.signedIn()
            bench.renew()
            return bench
        case .pending: return .pendingReauthentication()
        case .tokenExpired:
            var bench = Bench.signedIn(life: .seconds(60))
            bench.pass(.seconds(61))
            return bench
        case .backingOff: return .backingOff()
        case .apiKey: return .withApiKey()
        case .terminated: return .terminated()
        case .locked: return Bench(.locked)
        case .unavailable: return Bench(.unreadable(.unavailable, canSignIn: false))
        }
    }

    private func perform(_ event: Event, on bench: inout Bench) {
        switch event {
        case .signInGranted:
            bench.signIn(.signInToken("alice"))
            if !bench.exchanges.isEmpty { bench.grantExchange() }
        case .signInRefused:
            bench.signIn(.signInToken("alice"))
            if !bench.exchanges.isEmpty { bench.failExchange(.refused("no")) }
            if !bench.exchanges.isEmpty { bench.failExchange(.refused("no")) }
        case .exchangeGranted:
            if !bench.exchanges.isEmpty { bench.grantExchange() }
        case .exchangeFailed:
            if !bench.exchanges.isEmpty { bench.failExchange(.unavailable(Unavailability("No answer"))) }
        case .renewalGranted:
            if !bench.renewals.isEmpty { bench.grantRenewal() }
        case .renewalFailed:
            if !bench.renewals.isEmpty { bench.failRenewal(.unavailable(Unavailability("No answer"))) }
        case .reauthenticationDemanded:
            if !bench.renewals.isEmpty { bench.failRenewal(.reauthenticationRequired) }
        case .userDeleted:
            if !bench.renewals.isEmpty { bench.failRenewal(.terminated(code: "invalid_token", message: "Deleted")) }
        case .tokenEnds:
            bench.pass(.seconds(3_600))
        case .alarm:
            bench.pass(.milliseconds(1))
        case .clockJumps:
            bench.stepWall(.milliseconds(1))
        case .signOut:
            bench.signOut()
        case .writeFails:
            bench.writeFailure = StoreFailure("No space left on device")
            bench.renew()
        }
    }
}
