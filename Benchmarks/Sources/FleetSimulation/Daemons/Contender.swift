/// A kind of daemon, with the type behind it out of sight.
package struct Contender: Sendable {
    package var name: String
    /// Its state in the fleet, without what is on the heap or shared.
    package var bytes: Int
    package var run: @Sendable (_ scenario: Scenario, _ daemons: Int, _ seed: UInt64) -> Figures

    /// - Parameters:
    ///   - name: what it is called where two of a kind differ in what they are told.
    ///   - isTold: it hears of a network that comes back.
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

    /// The daemon itself: what is held to the bounds.
    package static let own = Contender(SessionDaemon.self)

    /// The same where nobody keeps a folder for the network's news.
    static let notTold = Contender(SessionDaemon.self, named: "not told", isTold: false)

    static let peers = [
        Contender(RuledDaemon<HalfLife>.self), Contender(RuledDaemon<LateShare>.self),
        Contender(RuledDaemon<FixedLead>.self),
    ]

    static let asItWas = Contender(RuledDaemon<BlindBackoff>.self)
}

extension Scenario {
    /// Who takes part. What a peer does about a wrong clock is no matter of its rule, and what junctiond did before is
    /// the same where no try fails.
    package var contenders: [Contender] {
        guard reboot?.clockSetAfter == nil else { return [.own] }
        return [.own] + Contender.peers + (spells.isEmpty ? [] : [isAnybodyCutOff ? .notTold : .asItWas])
    }

    private var isAnybodyCutOff: Bool {
        spells.contains { if case .cutOff = $0.kind { true } else { false } }
    }
}
