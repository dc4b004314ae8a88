/// A kind of daemon, with the type behind it out of sight.
package struct Contender: Sendable {
    package var name: String
    /// Its state in the fleet, without what is on the heap or shared.
    package var bytes: Int
    package var run: @Sendable (_ scenario: Scenario, _ daemons: Int, _ seed: UInt64) -> Figures

    package init<Daemon: FleetDaemon>(_ type: Daemon.Type) {
        name = type.name
        bytes = MemoryLayout<Daemon>.stride
        run = { scenario, daemons, seed in
            var fleet = Fleet<Daemon>(of: daemons, in: scenario, seed: seed)
            return fleet.run()
        }
    }

    /// The daemon itself: what is held to the bounds.
    package static let own = Contender(SessionDaemon.self)

    package static let rules = [
        Contender(RuledDaemon<HalfLife>.self), Contender(RuledDaemon<LateShare>.self),
        Contender(RuledDaemon<FixedLead>.self), Contender(RuledDaemon<BeforeTheEnd>.self),
    ]
}

extension Scenario {
    /// Who takes part. What a peer does about a wrong clock is no matter of its rule.
    package var contenders: [Contender] {
        [.own] + (reboot?.clockSetAfter == nil ? Contender.rules : [])
    }
}
