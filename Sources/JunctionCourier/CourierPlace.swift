import Glibc

/// Where the courier is: a program that is started for us, or a socket behind which a service manager starts it.
package enum CourierPlace: Equatable, Sendable {
    /// The path of the program; whoever asks for a connection starts it.
    case program(path: String)
    /// The path of the socket at which each connection gets a courier of its own.
    case socket(path: String)

    /// Gets a courier.
    ///
    /// - Returns: a connected stream socket that is close-on-exec, and the process that was started for it. A courier goes
    ///   when its socket is closed, unless it is stopped: one of ours can be ended then.
    package func connect() throws(CourierUnreachable) -> (socket: Int32, process: CourierProcess?) {
        switch self {
        case .program(let path): try CourierProcess.start(path)
        case .socket(let path): (try Self.connect(to: path), nil)
        }
    }

    private static func connect(to path: String) throws(CourierUnreachable) -> Int32 {
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        let room = MemoryLayout.size(ofValue: address.sun_path)
        guard path.utf8.count < room else { throw CourierUnreachable(.socket(path: path), errno: ENAMETOOLONG) }
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8) }

        // Not blocking: behind a full backlog it is as good as not there.
        let type = SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue | SOCK_NONBLOCK.rawValue
        let socket = Glibc.socket(AF_UNIX, Int32(type), 0)
        guard socket >= 0 else { throw CourierUnreachable(.socket(path: path), errno: errno) }
        let connected = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                Glibc.connect(socket, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
            }
        }
        guard connected == 0 else {
            let number = errno
            close(socket)
            throw CourierUnreachable(.socket(path: path), errno: number)
        }
        return socket
    }
}

/// There is no courier: nothing can reach the network, and nothing has left.
package struct CourierUnreachable: Error, Equatable, Sendable {
    package var place: CourierPlace
    package var errno: Int32

    init(_ place: CourierPlace, errno: Int32) {
        self.place = place
        self.errno = errno
    }
}
