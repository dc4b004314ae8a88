import CLinux
import Glibc
import JunctionSecret

extension SealingKey {
    /// Reads the key that the service manager passes as a credential.
    ///
    /// - Parameters:
    ///   - path: the file in the credentials directory. If it does not exist, the result is nil.
    ///   - origin: how the service manager encrypted it: `host+tpm2`, `tpm2` or `host`.
    package static func credential(at path: String, origin: String) throws(VaultRefusal) -> SealingKey? {
        guard let secret = try read(AT_FDCWD, path, location: path, forbidden: 0o007) else { return nil }
        return SealingKey(secret, origin: origin)
    }

    /// Reads the key file of the state directory. If it does not exist, it is created.
    package static func file(in directory: StateDirectory) throws(VaultRefusal) -> SealingKey {
        if let secret = try read(directory) { return SealingKey(secret, origin: "file") }
        do throws(FileFault) {
            try create(in: directory)
        } catch {
            // The daemon has no key until its next start.
            throw VaultRefusal("\(error) Then restart junctiond.")
        }
        guard let secret = try read(directory) else {
            throw VaultRefusal(FileFault("read", directory.location(of: .key), code: ENOENT))
        }
        return SealingKey(secret, origin: "file")
    }

    private static func read(_ directory: StateDirectory) throws(VaultRefusal) -> SharedSecret? {
        try read(
            directory.descriptor,
            StateFile.key.path,
            location: directory.location(of: .key),
            forbidden: 0o177
        )
    }

    /// - Parameter forbidden: the permission bits that make a key unusable, because other users could read or change
    ///   it.
    private static func read(
        _ directory: Int32,
        _ path: String,
        location: String,
        forbidden: mode_t
    ) throws(VaultRefusal) -> SharedSecret? {
        let opened = openat(directory, path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC)
        if opened < 0, errno == ENOENT { return nil }
        guard opened >= 0 else { throw VaultRefusal(FileFault("read", location, code: errno)) }
        defer { close(opened) }

        var status = stat()
        guard fstat(opened, &status) == 0 else { throw VaultRefusal(FileFault("read", location, code: errno)) }
        guard status.st_mode & S_IFMT == S_IFREG else { throw VaultRefusal(FileFault("read", location, code: EISDIR)) }
        guard status.st_uid == geteuid() || status.st_uid == 0 else {
            throw VaultRefusal(
                "The key \(location) belongs to user \(status.st_uid), who may know it. "
                    + "If it is the right one, run `chown \(geteuid()) \(location)`."
            )
        }
        guard status.st_mode & forbidden == 0 else {
            throw VaultRefusal(
                "The key \(location) is open to others (mode \(String(status.st_mode & 0o7777, radix: 8))). "
                    + "If nobody else can have read it, run `chmod 600 \(location)`."
            )
        }
        guard Int(status.st_size) == length, let secret = read(opened) else {
            throw VaultRefusal(
                "The key \(location) has \(status.st_size) bytes instead of \(length). Put the right file back; "
                    + "without it what is stored stays locked."
            )
        }
        return secret
    }

    private static func read(_ descriptor: Int32) -> SharedSecret? {
        let secret = Secret(capacity: length) { room in max(0, Glibc.read(descriptor, room.baseAddress, room.count)) }
        return secret.count == length ? SharedSecret(secret) : nil
    }

    private static func create(in directory: StateDirectory) throws(FileFault) {
        var bytes = [UInt8](repeating: 0, count: length)
        defer { bytes.withUnsafeMutableBytes { wipe($0) } }
        let refused = bytes.withUnsafeMutableBytes { clinux_random($0.baseAddress, $0.count) }
        guard refused == 0 else { throw FileFault("read", "the kernel's random numbers", code: refused) }
        // The key is written completely or not at all: records sealed under a partial key could not be opened later.
        var replacement = DurableReplacement(directory)
        try replacement.replace(.key, with: bytes)
    }
}
