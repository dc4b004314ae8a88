import JunctionSession
import JunctionSystemd
import JunctionVault
import Synchronization

/// The vault, and what the disk refuses: a sealed copy of it is in the service manager's care until the disk takes it.
///
/// So a rotation that could not be written outlives a restart and a crash of the daemon, though not a reboot.
final class SafekeepingStore: SessionStore {
    /// Two names, used in turn: the new copy is in place before the old one goes.
    static let names = ["session-a", "session-b"]
    /// Longer than any record.
    static let largestCopy = 512 * 1024

    private let vault: Vault
    private let notifier: Notifier
    private let entrusted: Mutex<Entrusted>

    private struct Entrusted {
        /// The names under which copies may be kept now.
        var names: Set<String>
        var nextIsSecond = false
    }

    /// - Parameter held: the names under which the service manager passed copies in, which it still has. The next copy
    ///   takes another name, so that there is one at every moment.
    init(_ vault: Vault, _ notifier: Notifier, held: Set<String>) {
        self.vault = vault
        self.notifier = notifier
        entrusted = Mutex(Entrusted(names: held, nextIsSecond: held.contains(Self.names[0])))
    }

    var sealedWith: String { vault.sealedWith }

    func restore() -> Restoration { vault.restore() }

    func write(_ record: SessionRecord, _ secrets: SessionSecrets) async throws(StoreFailure) {
        do throws(StoreFailure) {
            try await vault.write(record, secrets)
        } catch {
            if let copy = vault.sealedCopy(of: record, secrets) { entrust(copy) }
            throw error
        }
        takeBack()
    }

    private func entrust(_ copy: [UInt8]) {
        entrusted.withLock { entrusted in
            let name = Self.names[entrusted.nextIsSecond ? 1 : 0]
            // What lies under this name is older than what lies under the other.
            forget(name, &entrusted)
            guard KeptFile.keep(copy, as: name, by: notifier) == .sent else { return }
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

    /// What the service manager is too busy to hear is said again after the next write.
    private func forget(_ name: String, _ entrusted: inout Entrusted) {
        guard entrusted.names.contains(name), notifier.tell(.forget(name: name)) != .congested else { return }
        entrusted.names.remove(name)
    }
}
