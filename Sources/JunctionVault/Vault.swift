import Dispatch
package import JunctionSession
import Synchronization

/// The sealed session of one state directory.
///
/// Writing happens on a thread of its own: a disk that takes its time keeps nobody from an answer.
package final class Vault: SessionStore {
    private let directory: StateDirectory
    private let sealing: Sealing
    let store: Mutex<RecordStore>
    /// Known once the record was looked for; apart from the store, which may be waiting for the disk.
    private let installation = Mutex<InstallationId?>(nil)
    /// Private and serial: the global queues start a monitor that wakes the process every second for ever.
    private let queue = DispatchQueue(label: "junctiond.vault")
    /// Held for as long as there is a vault.
    private let lock: InstanceLock
    /// What a provider has to remember beside the session.
    package let sequences: SequenceBook

    /// Takes over a directory that is locked already.
    ///
    /// - Parameter probe: hears of each step of a durable write, on the vault's own thread.
    package init(
        _ directory: StateDirectory,
        _ lock: consuming InstanceLock,
        _ sealing: Sealing,
        probe: @escaping @Sendable (VaultStep) -> Void = { _ in }
    ) {
        self.directory = directory
        self.lock = lock
        self.sealing = sealing
        sequences = SequenceBook(directory, on: queue)
        store = Mutex(RecordStore(directory, sealing, probe: probe))
    }

    package var sealedWith: String { sealing.origin }

    /// The installation's own id, once the record was looked for; it survives sign-outs.
    package var installationId: String? { installation.withLock(\.self)?.text }

    package func restore() -> Restoration {
        restore(considering: [])
    }

    /// Reads the newest authentic record among the directory's and `copies`, which survived elsewhere.
    package func restore(considering copies: [[UInt8]]) -> Restoration {
        let (found, installation) = store.withLock { ($0.restore(considering: copies), $0.installation) }
        self.installation.withLock { $0 = installation }
        return found
    }

    package func write(_ record: SessionRecord, _ secrets: SessionSecrets) async throws(StoreFailure) {
        let outcome = await withCheckedContinuation { continuation in
            queue.async { [self] in
                continuation.resume(returning: attempt(record, secrets))
                store.withLock { $0.restoreReserve() }
            }
        }
        try outcome.get()
    }

    /// A record as the bytes that `restore(considering:)` takes back; nil when it cannot be sealed.
    ///
    /// They are kept outside the directory while the disk refuses the record, and do not wait for the disk.
    package func sealedCopy(of record: SessionRecord, _ secrets: SessionSecrets) -> [UInt8]? {
        guard let installation = installation.withLock(\.self) else { return nil }
        return try? SealedRecord.bytes(of: record, secrets, installation: installation.text, key: sealing.key)
    }

    /// Whether what `restore` found is in its file: a copy that survived elsewhere may still wait for the disk.
    package var isDurable: Bool { store.withLock { $0.unfinished.isEmpty } }

    /// Looks at everything that protects the stored session, for `doctor`.
    package func inspect() async -> [ProbeFinding] {
        let sealing = sealing
        return await withCheckedContinuation { continuation in
            onQueue { continuation.resume(returning: Inspection($0, sealing).findings()) }
        }
    }

    /// Does something with the directory, in its turn, where nobody is kept waiting.
    func onQueue(_ work: @escaping @Sendable (StateDirectory) -> Void) {
        queue.async { [self] in work(directory) }
    }

    private func attempt(_ record: SessionRecord, _ secrets: SessionSecrets) -> Result<Void, StoreFailure> {
        Result { () throws(StoreFailure) in
            try store.withLock { (store) throws(StoreFailure) in try store.write(record, secrets) }
        }
    }
}
