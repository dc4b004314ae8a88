import JunctionSession
import JunctionSystemd
import JunctionVault
import Synchronization

/// The store of the session's owner. It writes records to the vault. If a write fails, the service manager holds a
/// sealed copy until a later write succeeds.
///
/// So a rotation that could not be written survives a restart and a crash of the daemon, but not a reboot.
final class VaultWithDescriptorBackup: SessionStore {
    /// Two alternating names: the new copy is stored before the old one is removed.
    static let names = ["session-a", "session-b"]
    /// In bytes.
    static let largestCopy = Vault.longestRecord

    private let vault: Vault
    private let notifier: Notifier
    private let stored: Mutex<StoredDescriptor>

    private struct StoredDescriptor {
        /// The names under which the service manager may hold copies now.
        var names: Set<String>
        var nextIsSecond = false
    }

    /// - Parameter held: the names of the copies that the service manager passed and still holds. The next copy takes
    ///   another name, so that there is always one.
    init(_ vault: Vault, _ notifier: Notifier, held: Set<String>) {
        self.vault = vault
        self.notifier = notifier
        stored = Mutex(StoredDescriptor(names: held, nextIsSecond: held.contains(Self.names[0])))
    }

    var sealedWith: String { vault.sealedWith }

    func write(
        _ record: SessionRecord,
        _ secrets: SessionSecrets,
        unopened: UnopenedRecords
    ) async throws(StoreFailure) {
        do throws(StoreFailure) {
            try await vault.write(record, secrets, unopened: unopened)
        } catch {
            if let copy = vault.sealedCopy(of: record, secrets) { storeDescriptor(copy) }
            throw error
        }
        takeBack()
    }

    private func storeDescriptor(_ copy: [UInt8]) {
        stored.withLock { stored in
            let name = Self.names[stored.nextIsSecond ? 1 : 0]
            // The copy with this name is older than the copy with the other name.
            forget(name, &stored)
            guard StoredDescriptorFile.keep(copy, as: name, by: notifier) == .sent else { return }
            stored.names.insert(name)
            stored.nextIsSecond.toggle()
            forget(Self.names[stored.nextIsSecond ? 1 : 0], &stored)
        }
    }

    private func takeBack() {
        stored.withLock { stored in
            for name in stored.names { forget(name, &stored) }
        }
    }

    /// Removes a copy. If the service manager is too busy, the next write repeats this.
    private func forget(_ name: String, _ stored: inout StoredDescriptor) {
        guard stored.names.contains(name), notifier.tell(.forget(name: name)) != .congested else { return }
        stored.names.remove(name)
    }
}
