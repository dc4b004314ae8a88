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
    private let headerFacts = Mutex(HeaderFacts())
    let disk: DiskQueue
    /// What the header of a sealed copy needs. It is not part of `store`, whose lock may wait for the disk.
    private struct HeaderFacts {
        /// Nil until `restore` has run.
        var installation: String?
        var acknowledged: [String] = []
    }

    /// Held for the lifetime of the vault.
    private let lock: InstanceLock
    /// The sequences that a provider needs across sessions.
    package let sequences: SequenceStore

    /// Creates the vault of a directory that is already locked.
    ///
    /// - Parameters:
    ///   - disk: the thread that waits for the disk.
    ///   - probe: called after each step of a durable write, on the vault's own thread.
    package init(
        _ directory: StateDirectory,
        _ lock: consuming InstanceLock,
        _ sealing: Sealing,
        disk: DiskQueue = DiskQueue(patience: RenewalPolicy.longestWrite),
        probe: @escaping @Sendable (VaultStep) -> Void = { _ in }
    ) {
        self.directory = directory
        self.lock = lock
        self.sealing = sealing
        self.disk = disk
        sequences = SequenceStore(directory, on: disk)
        store = Mutex(RecordStore(directory, sealing, probe: probe))
    }

    package var sealedWith: String { sealing.origin }

    /// The installation's id, or nil until `restore` has run. It survives sign-outs.
    package var installationId: String? { headerFacts.withLock(\.installation) }

    package func restore() -> Restoration {
        restore(considering: [])
    }

    /// Reads the newest authentic record among the directory's and `copies`, which were kept elsewhere.
    package func restore(considering copies: [[UInt8]]) -> Restoration {
        let (found, installation) = store.withLock { ($0.restore(considering: copies), $0.installation?.text) }
        headerFacts.withLock { $0.installation = installation }
        return found
    }

    package func write(
        _ record: SessionRecord,
        _ secrets: SessionSecrets,
        unopened: UnopenedRecords
    ) async throws(StoreFailure) {
        let outcome = await withCheckedContinuation { continuation in
            disk.run { [self] in
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
        let facts = headerFacts.withLock(\.self)
        guard let installation = facts.installation else { return nil }
        return try? SealedRecord.bytes(
            of: record,
            secrets,
            installation: installation,
            acknowledged: facts.acknowledged,
            key: sealing.key
        )
    }

    /// Whether the record that `restore` found is in its file. A copy from elsewhere may still have to be written.
    package var isDurable: Bool { store.withLock { $0.unfinished.isEmpty } }

    /// Returns the findings of `doctor` about the stored session.
    package func inspect() async -> [ProbeFinding] {
        let findings = await disk.result { [self] in
            Inspection(directory, sealing, store.withLock(\.installation)).findings()
        }
        return findings ?? [Inspection.stalled(directory)]
    }

    private func attempt(
        _ record: SessionRecord,
        _ secrets: SessionSecrets,
        _ unopened: UnopenedRecords
    ) -> Result<Void, StoreFailure> {
        let (outcome, names) = store.withLock { store in
            let outcome = Result { () throws(StoreFailure) in try store.write(record, secrets, unopened: unopened) }
            return (outcome, store.sealedNames)
        }
        headerFacts.withLock { $0.acknowledged = names }
        return outcome
    }
}
