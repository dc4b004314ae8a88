import JunctionSession

/// The conditions of a simulation and its duration.
package struct Scenario: Sendable {
    package var name: String
    package var title: String
    package var length: Milliseconds
    package var start: Start
    package var spells: [Spell] = []
    package var reboot: Reboot?
    /// The interval at which an app on each device requests a token; nil: no app.
    package var asksEvery: Milliseconds?
    /// Whether disconnected daemons notice the return of the network.
    var isNetworkTold = true
    /// The peak is measured from this time on.
    package var measuredFrom: Milliseconds = 0
    package var bounds: [Bound] = []

    /// The lifetime of access tokens.
    package static let life: Duration = .seconds(3_600)

    package enum Start: Sendable {
        /// No user is signed in: all users sign in within this time.
        case signedOut(within: Milliseconds)
        /// All tokens were granted within this time, which ends now.
        case granted(within: Milliseconds)
        /// The fleet has run for a long time.
        case steady
    }

    /// The end of the last disturbance or reboot; recovery follows.
    package var troubleEnds: Milliseconds? {
        let ends = spells.map(\.until) + (reboot.map { [$0.at + $0.boots.upperBound] } ?? [])
        return ends.max()
    }

    func weather(at time: Milliseconds) -> Spell.Kind? {
        for spell in spells where spell.from <= time && time < spell.until { return spell.kind }
        return nil
    }

    /// Whether a daemon belongs to this share of the fleet, spread evenly over the numbers.
    static func isIn(_ share: Double, _ daemon: Int) -> Bool {
        Double(daemon % 1_000) < share * 1_000
    }
}

/// A time in which the provider, or the network, is disturbed.
package struct Spell: Sendable {
    package var from: Milliseconds
    package var until: Milliseconds
    package var kind: Kind

    package enum Kind: Sendable {
        /// All requests receive a 503; or a 502, after which the outcome is unknown.
        case down(isAmbiguous: Bool)
        /// A limit of requests per second for a million daemons; the others receive a 429 with this `Retry-After`.
        case limited(perSecond: Double, retryAfter: Duration)
        /// This share of the daemons cannot reach the provider, and notices at once.
        case cutOff(share: Double)
    }
}

/// A share of the fleet loses power and restarts.
package struct Reboot: Sendable {
    package var at: Milliseconds
    package var share: Double
    /// The time until a daemon runs again.
    package var boots: ClosedRange<Milliseconds>
    /// A third of them starts with a clock weeks in the past and a third with one a day ahead, until the clock is set
    /// this long after the start.
    package var clockSetAfter: ClosedRange<Milliseconds>?

    func clockError(of daemon: Int) -> Milliseconds {
        guard clockSetAfter != nil else { return 0 }
        return switch daemon / 1_000 % 3 {
        case 0: -40 * 86_400_000
        case 1: 86_400_000
        case _: 0
        }
    }
}

/// The upper bound of a figure.
package struct Bound: Sendable {
    package var figure: Figure
    package var target: Double

    package enum Figure: String, Sendable {
        case peak = "peak, requests/s"
        case tokenless = "hours without a token"
    }
}
