package import JunctionSession
import Synchronization

/// A store in memory. A test can make its writes fail.
package final class InMemoryStore: SessionStore {
    package let sealedWith = "file"
    private let state = Mutex(State())

    private struct State {
        var kept: (record: SessionRecord, secrets: SessionSecrets)?
        var failure: StoreFailure?
        var written: [SessionRecord] = []
    }

    package init() {}

    package func restore() -> Restoration {
        state.withLock { state in
            guard let kept = state.kept else { return .absent }
            return .restored(kept.record, kept.secrets, damaged: nil)
        }
    }

    package func write(
        _ record: SessionRecord,
        _ secrets: SessionSecrets,
        unopened _: UnopenedRecords
    ) async throws(StoreFailure) {
        let failure = state.withLock { state -> StoreFailure? in
            if let failure = state.failure { return failure }
            state.kept = (record, secrets)
            state.written.append(record)
            return nil
        }
        if let failure { throw failure }
    }

    /// The failure of every write, or `nil` if writes succeed.
    package var failure: StoreFailure? {
        get { state.withLock { $0.failure } }
        set { state.withLock { $0.failure = newValue } }
    }

    /// Every record that was written successfully, in order.
    package var written: [SessionRecord] { state.withLock { $0.written } }

    /// The record and the secrets that a restart would restore.
    package var kept: (record: SessionRecord, secrets: SessionSecrets)? { state.withLock { $0.kept } }
}
