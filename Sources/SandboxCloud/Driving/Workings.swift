/// The parts of the cloud that no vendor has: what tests drive, break and read.
struct Workings: Sendable {
    let ledger: Ledger
    let preferences: Preferences
    let counters = Counters()
    let log = RequestLog()
    let plan = FaultPlan()
    let hanging = HangingRequests()

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
