import Glibc

/// The directory of the state. It is opened once and used by its descriptor, so that a replaced path has no effect.
package final class StateDirectory: Sendable {
    package let path: String
    let descriptor: Int32
    /// The correction that opening the directory made, or nil.
    package let correction: String?

    /// Opens the directory. If it is missing, it is created with its parents.
    ///
    /// A symbolic link at the end is followed, because a service manager may have put the directory elsewhere.
    package init(path: String) throws(VaultRefusal) {
        let descriptor: Int32
        do throws(FileFault) {
            descriptor = try Self.open(path)
        } catch {
            throw VaultRefusal(error)
        }
        do throws(VaultRefusal) {
            correction = try Self.check(descriptor, path)
        } catch {
            Glibc.close(descriptor)
            throw error
        }
        self.path = path
        self.descriptor = descriptor
    }

    deinit {
        Glibc.close(descriptor)
    }

    private static func open(_ path: String) throws(FileFault) -> Int32 {
        let flags = O_RDONLY | O_DIRECTORY | O_CLOEXEC
        var descriptor = Glibc.open(path, flags)
        if descriptor < 0, errno == ENOENT {
            try create(path)
            descriptor = Glibc.open(path, flags)
        }
        guard descriptor >= 0 else { throw FileFault("open", path, code: errno) }
        return descriptor
    }

    private static func create(_ path: String) throws(FileFault) {
        var parent = path.hasPrefix("/") ? "" : "."
        for component in path.split(separator: "/") {
            parent += "/\(component)"
            guard mkdir(parent, 0o700) == 0 || errno == EEXIST else { throw FileFault("create", parent, code: errno) }
        }
    }

    /// Throws unless the directory belongs to the daemon's user only: another user with write access could add or
    /// remove a record.
    private static func check(_ descriptor: Int32, _ path: String) throws(VaultRefusal) -> String? {
        var status = stat()
        guard fstat(descriptor, &status) == 0 else { throw VaultRefusal(FileFault("examine", path, code: errno)) }
        guard status.st_uid == geteuid() else {
            throw VaultRefusal(
                "\(path) belongs to user \(status.st_uid), and junctiond runs as user \(geteuid()). "
                    + "Run `chown \(geteuid()) \(path)`, or start junctiond as its owner."
            )
        }
        guard status.st_mode & 0o022 == 0 else {
            throw VaultRefusal(
                "\(path) can be written by others (mode \(String(status.st_mode & 0o7777, radix: 8))), who may have "
                    + "changed what is in it. Look at its content, then run `chmod 700 \(path)`."
            )
        }
        guard status.st_mode & 0o077 != 0 else { return nil }
        guard fchmod(descriptor, 0o700) == 0 else { throw VaultRefusal(FileFault("protect", path, code: errno)) }
        return "It could be read by others; its mode is 700 now"
    }
}

/// Why the vault cannot be opened: what is wrong, where, and what to do.
package struct VaultRefusal: Error, Equatable, Sendable, CustomStringConvertible {
    package var message: String

    package init(_ message: String) {
        self.message = message
    }

    init(_ fault: FileFault) {
        self.init(fault.description)
    }

    package var description: String { message }
}
