import FoundationEssentials

/// The parts of the cloud that no vendor has: what tests drive, break and read.
struct Workings: Sendable {
    let ledger: Ledger
    let preferences: Preferences
    let counters: Counters
    let log = RequestLog()
    let plan: FaultPlan
    let hanging = HangingRequests()
    /// Rings whenever any of these has changed.
    let bell = Bell()

    /// Reads the state file if there is one.
    init(_ configuration: SandboxConfiguration) throws {
        ledger = try Ledger(file: configuration.stateFile.map(StateFile.init), bell: bell) { Date() }
        preferences = Preferences(configuration.settings, bell: bell)
        counters = Counters(bell: bell)
        plan = FaultPlan(bell: bell)
    }

    /// Everything as it was at the start of an empty sandbox.
    func reset() throws {
        try ledger.change { state, _ in state = CloudState() }
        preferences.reset()
        plan.clear()
        _ = hanging.endAll(.abandoned)
        counters.reset()
        log.clear()
    }
}
