package import JunctionSession

/// One daemon of the fleet. Each event returns whether the daemon sends a request to the provider.
package protocol FleetDaemon: Sendable {
    static var name: String { get }

    /// The share of its lifetime after which a token is renewed: one random draw.
    static func renewalShare(using random: inout Randomness) -> Double

    init(seed: UInt64)

    /// The process starts with the state that an earlier one has stored.
    mutating func begin(with token: StoredToken?, _ now: Moment) -> Bool

    /// The device was off, and the process starts with the state on its disk.
    mutating func reboot(seed: UInt64, _ now: Moment) -> Bool

    /// A user signs in.
    mutating func signIn(_ now: Moment) -> Bool

    /// The time of `nextAlarm` has come.
    mutating func alarmRang(_ now: Moment) -> Bool

    /// The wall clock was changed.
    mutating func clockJumped(_ now: Moment) -> Bool

    /// The network manager has recorded a network change.
    mutating func networkChanged(_ now: Moment) -> Bool

    /// An app requests a token while there is no valid one.
    mutating func appAsked(_ now: Moment) -> Bool

    /// The provider granted a token.
    mutating func granted(_ life: Life, _ now: Moment) -> Bool

    /// The provider did not grant a token.
    mutating func failed(_ why: Unavailability, _ now: Moment) -> Bool

    /// The time of the daemon's next action, on its own wall clock.
    func nextAlarm(_ now: Moment) -> WallTime?

    /// Whether an app would receive a token now.
    func servesToken(_ now: Moment) -> Bool
}

/// A token that was granted before the simulation starts.
package struct StoredToken: Sendable {
    package var age: Milliseconds
    package var renewalShare: Double

    /// The wall clock at the start of a simulation: 2026-11-21T00:00:00Z.
    static let beginning = WallTime(milliseconds: 1_795_219_200_000)

    var issuedAt: WallTime { Self.beginning + .milliseconds(-age) }
    var expiresAt: WallTime { issuedAt + Scenario.life }
    var renewAt: WallTime { issuedAt + Scenario.life * renewalShare }
}
