package import JunctionSession

/// One daemon of the fleet. Each event says whether a request leaves for the provider because of it.
package protocol FleetDaemon: Sendable {
    static var name: String { get }

    /// After which share of its life a token would be renewed: one draw.
    static func renewalShare(using random: inout Randomness) -> Double

    init(seed: UInt64)

    /// The process begins, with what an earlier one has stored.
    mutating func begin(with token: StoredToken?, _ now: Moment) -> Bool

    /// The device was off, and the process begins with what its disk has.
    mutating func reboot(seed: UInt64, _ now: Moment) -> Bool

    /// A user signs in.
    mutating func signIn(_ now: Moment) -> Bool

    /// The time that `nextAlarm` named has come.
    mutating func alarmRang(_ now: Moment) -> Bool

    /// The wall clock was set.
    mutating func clockJumped(_ now: Moment) -> Bool

    /// Whoever manages the device's network has noted that something is new.
    mutating func networkChanged(_ now: Moment) -> Bool

    /// An app wants a token while there is none that lives.
    mutating func appAsked(_ now: Moment) -> Bool

    /// The provider granted a token.
    mutating func granted(_ life: Life, _ now: Moment) -> Bool

    /// It did not.
    mutating func failed(_ why: Unavailability, _ now: Moment) -> Bool

    /// When it has something to do by itself, on its own wall clock.
    func nextAlarm(_ now: Moment) -> WallTime?

    /// Whether an app would get a token now.
    func servesToken(_ now: Moment) -> Bool
}

/// A token that was granted before the simulation begins.
package struct StoredToken: Sendable {
    package var age: Milliseconds
    package var renewalShare: Double

    /// What the wall clock shows when a simulation begins: 2026-11-21T00:00:00Z.
    static let beginning = WallTime(milliseconds: 1_795_219_200_000)

    package init(age: Milliseconds, renewalShare: Double) {
        self.age = age
        self.renewalShare = renewalShare
    }

    var issuedAt: WallTime { Self.beginning + .milliseconds(-age) }
    var expiresAt: WallTime { issuedAt + Scenario.life }
    var renewAt: WallTime { issuedAt + Scenario.life * renewalShare }
}
