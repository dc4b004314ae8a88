package import JunctionSession

/// When a program renews, and when it retries: the only difference between the peers here.
package protocol RenewalRule: Sendable {
    static var name: String { get }

    /// The share of a token's lifetime after which it is renewed.
    static func renewalShare(using random: inout Randomness) -> Double

    /// Returns the wait after this many consecutive failures.
    ///
    /// - Parameters:
    ///   - asked: the value of a `Retry-After`.
    ///   - left: the remaining lifetime of the current token.
    static func delay(
        afterFailures failures: Int,
        asked: Duration?,
        left: Duration,
        using random: inout Randomness
    ) -> Duration
}

/// A daemon that only follows one rule. Its disk keeps the token and its renewal time across a reboot.
package struct RuledDaemon<Rule: RenewalRule>: FleetDaemon {
    package static var name: String { Rule.name }

    private var random: Randomness
    private var expiresAt: WallTime?
    private var actsAt: WallTime?
    private var failures = 0
    private var isBusy = false

    package init(seed: UInt64) {
        random = Randomness(seed: seed)
    }

    package static func renewalShare(using random: inout Randomness) -> Double {
        Rule.renewalShare(using: &random)
    }

    package mutating func begin(with token: StoredToken?, _ now: Moment) -> Bool {
        (expiresAt, actsAt) = (token?.expiresAt, token?.renewAt)
        return act(now)
    }

    package mutating func reboot(seed: UInt64, _ now: Moment) -> Bool {
        random = Randomness(seed: seed)
        isBusy = false
        failures = 0
        return act(now)
    }

    package mutating func signIn(_ now: Moment) -> Bool {
        actsAt = now.wall
        return act(now)
    }

    package mutating func alarmRang(_ now: Moment) -> Bool { act(now) }

    package mutating func clockJumped(_ now: Moment) -> Bool { act(now) }

    /// No effect: the daemon only follows its rule.
    package mutating func networkChanged(_ now: Moment) -> Bool { false }

    /// No effect, either.
    package mutating func appAsked(_ now: Moment) -> Bool { false }

    package mutating func granted(_ life: Life, _ now: Moment) -> Bool {
        let issuedAt = now.wall(at: life.start)
        expiresAt = issuedAt + Scenario.life
        actsAt = issuedAt + Scenario.life * Rule.renewalShare(using: &random)
        (failures, isBusy) = (0, false)
        return false
    }

    package mutating func failed(_ why: Unavailability, _ now: Moment) -> Bool {
        isBusy = false
        guard let expiresAt else {
            actsAt = nil
            return false
        }
        failures += 1
        let left = max(expiresAt - now.wall, .zero)
        actsAt = now.wall + Rule.delay(afterFailures: failures, asked: why.retryAfter, left: left, using: &random)
        return false
    }

    package func nextAlarm(_ now: Moment) -> WallTime? {
        let end = expiresAt.flatMap { $0 > now.wall ? $0 : nil }
        return [isBusy ? nil : actsAt, end].compactMap(\.self).min()
    }

    package func servesToken(_ now: Moment) -> Bool {
        expiresAt.map { now.wall < $0 } ?? false
    }

    private mutating func act(_ now: Moment) -> Bool {
        guard !isBusy, let actsAt, actsAt <= now.wall else { return false }
        isBusy = true
        return true
    }
}
