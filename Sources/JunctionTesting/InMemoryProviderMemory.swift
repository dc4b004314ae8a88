package import JunctionSession
import Synchronization

/// A provider memory that keeps the sequence rules without a disk, and records the claims.
package final class InMemoryProviderMemory: ProviderMemory {
    private let state = Mutex(State())

    private struct State {
        var list = SequenceList()
        var claims: [UInt64] = []
        var onClaim: (@Sendable () -> Void)?
    }

    package init() {}

    package func claim(_ sequence: UInt64, of subject: String) async throws(SequenceSpent) {
        let onClaim = state.withLock { state in
            state.claims.append(sequence)
            return state.onClaim
        }
        onClaim?()
        try state.withLock { (state) throws(SequenceSpent) in try state.list.claim(sequence, of: subject) }
    }

    package func release(_ sequence: UInt64, of subject: String) {
        state.withLock { _ = $0.list.release(sequence, of: subject) }
    }

    package func note(_ fact: String?) {
        state.withLock { $0.list.fact = fact }
    }

    package func isNoted(_ fact: String) -> Bool {
        state.withLock { $0.list.fact == fact }
    }

    /// Sets a function to call at the start of each claim.
    package func onClaim(_ body: @escaping @Sendable () -> Void) {
        state.withLock { $0.onClaim = body }
    }

    /// Every sequence that a caller tried to claim, in order, including the failed claims.
    package var claims: [UInt64] { state.withLock { $0.claims } }
    package var entries: [SequenceList.Entry] { state.withLock { $0.list.entries } }
}
