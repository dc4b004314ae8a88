/// A kind of daemon, with its type erased.
package struct Contender: Sendable {
    package var name: String
    /// The size of its state in the fleet, without heap and shared data.
    package var bytes: Int
    package var run: @Sendable (_ scenario: Scenario, _ daemons: Int, _ seed: UInt64) -> Figures

    /// - Parameters:
    ///   - name: the name of a variant.
    ///   - isTold: the daemon notices when the network returns.
    package init<Daemon: FleetDaemon>(_ type: Daemon.Type, named name: String? = nil, isTold: Bool = true) {
        self.name = name ?? type.name
        bytes = MemoryLayout<Daemon>.stride
        run = { scenario, daemons, seed in
            var scenario = scenario
            scenario.isNetworkTold = isTold
            var fleet = Fleet<Daemon>(of: daemons, in: scenario, seed: seed)
            return fleet.run()
        }
    }

    /// junctiond itself, which has to keep the bounds.
    package static let own = Contender(SessionDaemon.self)

    /// junctiond on a device whose network manager has no folder that it can watch.
    static let notTold = Contender(SessionDaemon.self, named: "not told", isTold: false)

    static let peers = [
        Contender(RuledDaemon<HalfLife>.self), Contender(RuledDaemon<LateShare>.self),
        Contender(RuledDaemon<FixedLead>.self),
    ]

    static let asItWas = Contender(RuledDaemon<BlindBackoff>.self)
}

extension Scenario {
    /// The contenders of a scenario. The peers' rules do not cover a wrong clock, and the former junctiond differs only
    /// after failures.
    package var contenders: [Contender] {
        guard reboot?.clockSetAfter == nil else { return [.own] }
        return [.own] + Contender.peers + (spells.isEmpty ? [] : [isAnybodyCutOff ? .notTold : .asItWas])
    }

    private var isAnybodyCutOff: Bool {
        spells.contains { if case .cutOff = $0.kind { true } else { false } }
    }
}
