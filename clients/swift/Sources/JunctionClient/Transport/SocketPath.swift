package import Glibc

/// The path of the daemon's socket.
package struct SocketPath: Hashable, Sendable, CustomStringConvertible {
    /// The longest path, in bytes: the space in `sockaddr_un` without the terminating zero.
    package static let longest = MemoryLayout.size(ofValue: sockaddr_un().sun_path) - 1

    package let text: String
    /// The name of the path in error messages.
    package let description: String

    /// - Parameter name: the name in error messages; by default the path.
    package init(_ path: String, named name: String? = nil) {
        text = path
        description = name ?? path
    }

    /// Returns the explicit path, or the one from the environment, or the one of the system service.
    package static func resolve(
        _ explicit: String?,
        environment: (String) -> String? = variable(named:),
        exists: (String) -> Bool = { access($0, F_OK) == 0 }
    ) -> SocketPath {
        if let explicit { return SocketPath(explicit) }
        if let path = environment("JUNCTIOND_SOCKET"), !path.isEmpty { return SocketPath(path) }
        if let directory = environment("XDG_RUNTIME_DIR"), !directory.isEmpty {
            let path = "\(directory)/junctiond/junctiond.sock"
            if exists(path) { return SocketPath(path) }
        }
        return SocketPath("/run/junctiond/junctiond.sock")
    }

    private static func variable(named name: String) -> String? {
        getenv(name).map { String(cString: $0) }
    }

    /// Calls `body` with the path as a socket address.
    package func withAddress<Result>(
        _ body: (UnsafePointer<sockaddr>, socklen_t) -> Result
    ) throws(JunctionError) -> Result {
        let bytes = text.utf8
        guard !bytes.isEmpty, bytes.count <= Self.longest, !bytes.contains(0) else {
            throw JunctionError(
                .invalidSocketPath,
                "\(description) cannot be a socket: its path has to have 1 to \(Self.longest) bytes"
            )
        }
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: bytes) }
        return withUnsafeBytes(of: &address) { raw in
            body(raw.assumingMemoryBound(to: sockaddr.self).baseAddress!, socklen_t(raw.count))
        }
    }
}
