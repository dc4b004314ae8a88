import Dispatch
package import JunctionSession
import Synchronization

/// The sealed session of one state directory.
///
/// Writes run on a thread of their own, so that a slow disk does not delay answers.
package final class Vault: SessionStore {
    /// In bytes. No record is longer.
    package static let longestRecord = RecordFrame.longest

    private let directory: StateDirectory
    private let sealing: Sealing
    let store: Mutex<RecordStore>
    /// Nil until `restore` has run. It is not part of `store`, whose lock may wait for the disk.
    private let installation = Mutex<InstallationId?>(nil)
    /// A private serial queue: Dispatch's global queues start a monitor that wakes the process every second.
    private let queue = DispatchQueue(label: "junctiond.vault")
    /// Held for the lifetime of the vault.
    private let lock: InstanceLock
    /// The sequences that a provider needs across sessions.
    package let sequences: SequenceStore

    /// Creates the vault of a directory that is already locked.
    ///
    /// - Parameter probe: called after each step of a durable write, on the vault's own thread.
    package init(
        _ directory: StateDirectory,
        _ lock: consuming InstanceLock,
        _ sealing: Sealing,
        probe: @escaping @Sendable (VaultStep) -> Void = { _ in }
    ) {
        self.directory = directory
        self.lock = lock
        self.sealing = sealing
        sequences = SequenceStore(directory, on: queue)
        store = Mutex(RecordStore(directory, sealing, probe: probe))
    }

    package var sealedWith: String { sealing.origin }

    /// The installation's id, or nil until `restore` has run. It survives sign-outs.
    package var installationId: String? { installation.withLock(\.self)?.text }

    package func restore() -> Restoration {
        restore(considering: [])
    }

    /// Reads the newest authentic record among the directory's and `copies`, which were kept elsewhere.
    package func restore(considering copies: [[UInt8]]) -> Restoration {
        let (found, installation) = store.withLock { ($0.restore(considering: copies), $0.installation) }
        self.installation.withLock { $0 = installation }
        return found
    }

    package func write(
        _ record: SessionRecord,
        _ secrets: SessionSecrets,
        unopened: UnopenedRecords
    ) async throws(StoreFailure) {
        let outcome = await withCheckedContinuation { continuation in
            queue.async { [self] in
                continuation.resume(returning: attempt(record, secrets, unopened))
                store.withLock { $0.restoreReserve() }
            }
        }
        try outcome.get()
    }

    /// Returns the sealed bytes that `restore(considering:)` accepts, or nil if the record cannot be sealed.
    ///
    /// The service manager keeps them while the disk refuses the record. This function does not wait for the disk.
    package func sealedCopy(of record: SessionRecord, _ secrets: SessionSecrets) -> [UInt8]? {
        guard let installation = installation.withLock(\.self) else { return nil }
        return try? SealedRecord.bytes(of: record, secrets, installation: installation.text, key: sealing.key)
    }

    /// Whether the record that `restore` found is in its file. A copy from elsewhere may still have to be written.
    package var isDurable: Bool { store.withLock { $0.unfinished.isEmpty } }

    /// Returns the findings of `doctor` about the stored session.
    package func inspect() async -> [ProbeFinding] {
        let sealing = sealing
        return await withCheckedContinuation { continuation in
            onQueue { continuation.resume(returning: Inspection($0, sealing).findings()) }
        }
    }

    /// Runs `work` on the vault's queue, after the writes before it.
    func onQueue(_ work: @escaping @Sendable (StateDirectory) -> Void) {
        queue.async { [self] in work(directory) }
    }

    private func attempt(
        _ record: SessionRecord,
        _ secrets: SessionSecrets,
        _ unopened: UnopenedRecords
    ) -> Result<Void, StoreFailure> {
        Result { () throws(StoreFailure) in
            try store.withLock { (store) throws(StoreFailure) in
                try store.write(record, secrets, unopened: unopened)
            }
        }
    }
}
