import JunctionSecret
import JunctionSystemd
import JunctionText
import JunctionVault

/// Opens the state directory, takes its lock, and finds the sealing key.
struct StateOpening {
    /// The names of two credentials: the sealing key, and what the key is bound to.
    static let keyCredential = "junctiond.key"
    static let bindingCredential = "junctiond.key.binding"

    let directory: String
    let service: ServiceEnvironment
    let instance: InstanceName

    func open(probe: @escaping @Sendable (VaultStep) -> Void) throws(StartFailure) -> Vault {
        let directory: StateDirectory
        do throws(VaultRefusal) {
            directory = try StateDirectory(path: self.directory)
        } catch {
            throw StartFailure(error)
        }
        let lock: InstanceLock
        do throws(InstanceLock.Refusal) {
            lock = try InstanceLock(directory)
        } catch {
            throw StartFailure(error)
        }
        return Vault(directory, lock, sealing(in: directory), probe: probe)
    }

    /// Returns the sealing key. If there is none, the daemon still starts: the stored session is locked, and the remedy
    /// says why.
    private func sealing(in directory: StateDirectory) -> Sealing {
        guard service.isUnderServiceManager else { return fileKey(in: directory) }
        let origin = binding
        do throws(VaultRefusal) {
            let path = service.credentialsDirectory.map { $0 + "/" + Self.keyCredential }
            if let path, let key = try SealingKey.credential(at: path, origin: origin) { return .key(key) }
        } catch {
            return .absent(origin: origin, remedy: error.message)
        }
        // A user's own service has no prepared key, and its files belong to that user alone. So it uses a key file, as
        // a daemon does that was started by hand.
        if service.isUnderUserManager { return fileKey(in: directory) }
        let remedy = """
            The service manager passed no credential \(Self.keyCredential): \
            journalctl -u junctiond-key-init\(instance.suffix) says why, or the unit lacks LoadCredentialEncrypted=\(Self.keyCredential); then restart the service
            """
        return .absent(origin: origin, remedy: remedy)
    }

    private func fileKey(in directory: StateDirectory) -> Sealing {
        do throws(VaultRefusal) {
            return .key(try SealingKey.file(in: directory))
        } catch {
            return .absent(origin: "file", remedy: error.message)
        }
    }

    /// What the key is bound to, as the unit that created the key wrote it down.
    private var binding: String {
        guard let folder = service.credentialsDirectory,
            let content = SmallFile.secret(at: folder + "/" + Self.bindingCredential)
        else { return "host" }
        let text = content.withUnsafeBytes { String(decoding: $0, as: UTF8.self) }
        return ["host+tpm2", "tpm2", "host"].contains(text) ? text : "host"
    }
}
