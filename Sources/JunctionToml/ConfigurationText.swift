import Glibc

/// Reads the bytes of configuration files.
package enum ConfigurationText {
    /// In bytes. No hand-written configuration is near this limit; a log or a disk image that was given by mistake is
    /// above it.
    package static let largest = 1 << 20

    /// Reads the configuration file, which may also be a pipe. It stops soon after `largest`, so a longer result means
    /// that the file is too large.
    package static func read(_ path: String) throws(UnreadableConfiguration) -> [UInt8] {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw UnreadableConfiguration(path, errno: errno) }
        defer { close(descriptor) }
        return try read(descriptor, path)
    }

    /// Reads a file of the folder beside the configuration file. It never blocks on a pipe or a device.
    package static func readFragment(_ path: String) throws(UnreadableConfiguration) -> [UInt8] {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY)
        guard descriptor >= 0 else { throw UnreadableConfiguration(path, errno: errno) }
        defer { close(descriptor) }
        var status = stat()
        guard fstat(descriptor, &status) == 0 else { throw UnreadableConfiguration(path, errno: errno) }
        guard status.st_mode & S_IFMT == S_IFREG else { throw UnreadableConfiguration(path, "is not a regular file") }
        return try read(descriptor, path)
    }

    private static func read(_ descriptor: Int32, _ path: String) throws(UnreadableConfiguration) -> [UInt8] {
        var bytes: [UInt8] = []
        var chunk = [UInt8](repeating: 0, count: 16_384)
        while bytes.count <= largest {
            let count = Glibc.read(descriptor, &chunk, chunk.count)
            if count == 0 { break }
            guard count > 0 else {
                if errno == EINTR { continue }
                throw UnreadableConfiguration(path, errno: errno)
            }
            bytes += chunk.prefix(count)
        }
        return bytes
    }
}

/// Why a configuration file, or the folder beside it, cannot be read.
package struct UnreadableConfiguration: Error, Equatable {
    package var path: String
    package var reason: String
    /// Whether the file or a folder of its path does not exist.
    package var isMissing: Bool

    init(_ path: String, _ reason: String) {
        (self.path, self.reason, isMissing) = (path, reason, false)
    }

    init(_ path: String, errno code: Int32) {
        self.path = path
        reason = "cannot be read: \(String(cString: strerror(code)))"
        isMissing = code == ENOENT || code == ENOTDIR
    }
}
