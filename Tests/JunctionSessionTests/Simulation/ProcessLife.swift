import JunctionSession
import JunctionTesting

/// One life of the process: a real owner with the simulation's ports, until somebody kills it.
final class ProcessLife: @unchecked Sendable {
    unowned let simulation: Simulation
    /// The process is dead: its ports fail at once, and nobody hears its answers.
    private(set) var isOver = false
    /// When the alarm rings, by the wall clock.
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

    /// Kills the process. A sign-out of the dead owner ends its tasks, so that nothing of it stays in memory.
    func end(_ resumeCalls: () -> Void) {
        isOver = true
        resumeCalls()
        simulation.executor.runUntilIdle()
        owner.assumeIsolated { $0.signOut(by: 0) { _ in } }
        simulation.executor.runUntilIdle()
        living = nil
    }
}
