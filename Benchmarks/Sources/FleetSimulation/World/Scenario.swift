import JunctionSession

/// What a fleet meets, and for how long.
package struct Scenario: Sendable {
    package var name: String
    package var title: String
    package var length: Milliseconds
    package var start: Start
    package var spells: [Spell] = []
    package var reboot: Reboot?
    /// An app on each device asks for the token this often; nothing: nobody asks.
    package var asksEvery: Milliseconds?
    /// Whether those who were cut off hear of it when they are no more.
    var isNetworkTold = true
    /// The peak is looked for from here on.
    package var measuredFrom: Milliseconds = 0
    package var bounds: [Bound] = []

    /// Access tokens live for so long.
    package static let life: Duration = .seconds(3_600)

    package enum Start: Sendable {
        /// Nobody is signed in: everybody does, some time within this span.
        case signedOut(within: Milliseconds)
        /// All tokens were granted within this span, which ends now.
        case granted(within: Milliseconds)
        /// The fleet has run for long.
        case steady
    }

    /// When the last spell or reboot is over: what comes later is recovery.
    package var troubleEnds: Milliseconds? {
        let ends = spells.map(\.until) + (reboot.map { [$0.at + $0.boots.upperBound] } ?? [])
        return ends.max()
    }

    func weather(at time: Milliseconds) -> Spell.Kind? {
        for spell in spells where spell.from <= time && time < spell.until { return spell.kind }
        return nil
    }

    /// Whether a daemon is among such a share of them: spread evenly over their numbers.
    static func isIn(_ share: Double, _ daemon: Int) -> Bool {
        Double(daemon % 1_000) < share * 1_000
    }
}

/// A time when the provider, or the way to it, is not as it should be.
package struct Spell: Sendable {
    package var from: Milliseconds
    package var until: Milliseconds
    package var kind: Kind

    package enum Kind: Sendable {
        /// Everybody gets a 503; or a 502, after which nobody knows whether the request was carried out.
        case down(isAmbiguous: Bool)
        /// So many requests a second for a million daemons; all others get a 429 with this `Retry-After`.
        case limited(perSecond: Double, retryAfter: Duration)
        /// This share of the daemons has no way to the provider, and notices at once.
        case cutOff(share: Double)
    }
}

/// A share of the fleet loses power, and begins again.
package struct Reboot: Sendable {
    package var at: Milliseconds
    package var share: Double
    /// How long until a daemon runs again.
    package var boots: ClosedRange<Milliseconds>
    /// A third of them comes up weeks in the past and a third a day ahead, until the clock is set so long after the start.
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

/// What a figure may be at most.
package struct Bound: Sendable {
    package var figure: Figure
    package var target: Double

    package enum Figure: String, Sendable {
        case peak = "peak, requests/s"
        case tokenless = "hours without a token"
    }
}
