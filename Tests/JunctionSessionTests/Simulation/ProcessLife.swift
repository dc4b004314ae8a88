import JunctionSession
import JunctionTesting

/// One process: a real owner with the simulation's ports, until the simulation kills it.
final class ProcessLife: @unchecked Sendable {
    unowned let simulation: Simulation
    /// Whether the process is dead. Its ports then fail at once, and its answers are ignored.
    private(set) var isOver = false
    /// The time of the alarm on the wall clock.
    var alarm: WallTime?
    private var living: SessionOwner?
    var owner: SessionOwner { living! }

    init(_ simulation: Simulation, seed: UInt64) {
        self.simulation = simulation
        let owner = SessionOwner(
            provider: ProviderPort(life: self, schemes: simulation.schemes),
            store: StorePort(life: self),
            clock: ClockPort(life: self),
            alarm: AlarmPort(life: self),
            observer: ObserverPort(life: self),
            executor: simulation.executor,
            tasks: simulation.executor,
            rules: RenewalRules(mode: simulation.mode),
            callsPerMinute: simulation.callsPerMinute,
            apiCallsPerMinute: .max,
            seed: seed
        )
        owner.shuffleSteps(seed: seed)
        living = owner
    }

    /// Kills the process. A sign-out of the dead owner ends its tasks, so that none of them stays in memory.
    func end(_ resumeCalls: () -> Void) {
        isOver = true
        resumeCalls()
        simulation.executor.runUntilIdle()
        owner.assumeIsolated { $0.signOut(by: 0) { _ in } }
        simulation.executor.runUntilIdle()
        living = nil
    }
}
