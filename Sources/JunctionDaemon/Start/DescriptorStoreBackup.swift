import JunctionSession
import JunctionSystemd
import JunctionVault
import Synchronization

/// The store of the session's owner. It writes records to the vault. If a write fails, the service manager holds a
/// sealed copy until a later write succeeds.
///
/// So a rotation that could not be written survives a restart and a crash of the daemon, but not a reboot.
final class DescriptorStoreBackup: SessionStore {
    /// Two alternating names: the new copy is stored before the old one is removed.
    static let names = ["session-a", "session-b"]
    /// In bytes.
    static let largestCopy = Vault.longestRecord

    private let vault: Vault
    private let notifier: Notifier
    private let entrusted: Mutex<StoredDescriptor>

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
        entrusted = Mutex(StoredDescriptor(names: held, nextIsSecond: held.contains(Self.names[0])))
    }

    var sealedWith: String { vault.sealedWith }

    func restore() -> Restoration { vault.restore() }

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
        entrusted.withLock { entrusted in
            let name = Self.names[entrusted.nextIsSecond ? 1 : 0]
            // The copy with this name is older than the copy with the other name.
            forget(name, &entrusted)
            guard StoredDescriptorFile.keep(copy, as: name, by: notifier) == .sent else { return }
            entrusted.names.insert(name)
            entrusted.nextIsSecond.toggle()
            forget(Self.names[entrusted.nextIsSecond ? 1 : 0], &entrusted)
        }
    }

    private func takeBack() {
        entrusted.withLock { entrusted in
            for name in entrusted.names { forget(name, &entrusted) }
        }
    }

    /// Removes a copy. If the service manager is too busy, the next write repeats this.
    private func forget(_ name: String, _ entrusted: inout StoredDescriptor) {
        guard entrusted.names.contains(name), notifier.tell(.forget(name: name)) != .congested else { return }
        entrusted.names.remove(name)
    }
}
