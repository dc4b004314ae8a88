import Glibc

/// The place where the daemon gets a network helper: a program that it starts, or a socket at which the service manager
/// starts one.
package enum HelperEndpoint: Equatable, Sendable {
    /// The path of the program. `connect` starts it.
    case program(path: String)
    /// The path of the socket. The service manager starts a new network helper for each connection.
    case socket(path: String)

    /// Connects to a new network helper.
    ///
    /// - Returns: a connected stream socket that is close-on-exec, and the process if this call started one. A network
    ///   helper exits when its socket is closed. A stopped helper does not; `HelperProcess.end` kills it.
    package func connect() throws(HelperUnreachable) -> (socket: Int32, process: HelperProcess?) {
        switch self {
        case .program(let path): try HelperProcess.start(path)
        case .socket(let path): (try Self.connect(to: path), nil)
        }
    }

    private static func connect(to path: String) throws(HelperUnreachable) -> Int32 {
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        let room = MemoryLayout.size(ofValue: address.sun_path)
        guard path.utf8.count < room else { throw HelperUnreachable(.socket(path: path), errno: ENAMETOOLONG) }
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8) }

        // Non-blocking: with a full backlog the helper counts as unreachable.
        let type = SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue | SOCK_NONBLOCK.rawValue
        let socket = Glibc.socket(AF_UNIX, Int32(type), 0)
        guard socket >= 0 else { throw HelperUnreachable(.socket(path: path), errno: errno) }
        let connected = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                Glibc.connect(socket, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
            }
        }
        guard connected == 0 else {
            let number = errno
            close(socket)
            throw HelperUnreachable(.socket(path: path), errno: number)
        }
        return socket
    }
}

/// The network helper cannot be reached. No request was sent.
package struct HelperUnreachable: Error, Equatable, Sendable {
    package var place: HelperEndpoint
    package var errno: Int32

    init(_ place: HelperEndpoint, errno: Int32) {
        self.place = place
        self.errno = errno
    }
}
