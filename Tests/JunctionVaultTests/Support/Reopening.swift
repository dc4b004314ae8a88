import Glibc

@testable import JunctionVault

/// Opens a vault again after it was closed. A child process of another test holds a copy of the lock until its `exec`,
/// so this retries for up to ten seconds.
func reopened<Result>(_ open: () throws -> Result) throws -> Result {
    let deadline = ContinuousClock.now + .seconds(10)
    while true {
        do {
            return try open()
        } catch InstanceLock.Refusal.held where ContinuousClock.now < deadline {
            sched_yield()
        }
    }
}
