import Glibc

/// Reads the bytes of configuration files.
package enum ConfigurationText {
    /// No configuration that people write comes near it; a log or a disk image given by mistake does.
    package static let largest = 1 << 20

    /// Reads the configuration file, which may also be a pipe. Returns one byte more than `largest` at most.
    package static func read(_ path: String) throws(UnreadableConfiguration) -> [UInt8] {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw UnreadableConfiguration(path, errno: errno) }
        defer { close(descriptor) }
        return try read(descriptor, path)
    }

    /// Reads a file of the folder beside the configuration file. No pipe or device there can hold the start up.
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

/// Why a configuration file, or the folder beside it, is not read.
package struct UnreadableConfiguration: Error, Equatable {
    package var path: String
    package var reason: String
    /// Neither the file nor a folder on the way to it exists.
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
