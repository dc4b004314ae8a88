import CSystemd
import Glibc

/// The sockets that the service manager opened and passed to this process (socket activation).
package struct PassedSockets: Equatable, Sendable {
    /// One passed descriptor, and its name from the socket unit.
    package struct Socket: Equatable, Sendable {
        package var descriptor: Int32
        package var name: String

        package init(descriptor: Int32, name: String) {
            self.descriptor = descriptor
            self.name = name
        }
    }

    package var sockets: [Socket]

    package init(_ sockets: [Socket]) {
        self.sockets = sockets
    }

    /// Takes the passed sockets, and removes the environment variables that announce them, so that no child process
    /// reads them. Call this before any other thread starts, because it changes the environment.
    package static func take() throws(PassedSocketError) -> PassedSockets {
        var names: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>?
        let count = sd_listen_fds_with_names(1, &names)
        guard count >= 0 else {
            throw PassedSocketError(
                "The variables LISTEN_FDS, LISTEN_PID and LISTEN_FDNAMES do not describe open descriptors "
                    + "(\(String(cString: strerror(-count)))): start junctiond by its socket unit or without them"
            )
        }
        defer { free(names) }
        // The list ends with a null pointer, and each name is a separate allocation.
        let sockets = (0..<count).map { index in
            let name = names?[Int(index)]
            defer { free(name) }
            return Socket(descriptor: 3 + index, name: name.map { String(cString: $0) } ?? unnamed)
        }
        return PassedSockets(sockets)
    }

    /// Prepares the sockets for the next program in this process, and returns the environment that announces them.
    ///
    /// Call this right before `execve`. It moves the sockets to the descriptors from 3 on, and closes what has those
    /// numbers.
    package func passedOn(in variables: [String: String]) -> [String: String] {
        var variables = variables
        for (index, socket) in sockets.enumerated() {
            let place = 3 + Int32(index)
            // In this order, no socket overwrites one that is still to be moved.
            if socket.descriptor == place { _ = fcntl(place, F_SETFD, 0) } else { dup2(socket.descriptor, place) }
        }
        for name in ["LISTEN_FDS", "LISTEN_FDNAMES", "LISTEN_PID"] { variables[name] = nil }
        guard !sockets.isEmpty else { return variables }
        variables["LISTEN_FDS"] = "\(sockets.count)"
        variables["LISTEN_FDNAMES"] = sockets.map(\.name).joined(separator: ":")
        variables["LISTEN_PID"] = "\(getpid())"
        return variables
    }

    /// The purpose of a socket, as its unit names it (`FileDescriptorName=`).
    package enum Name: String, Sendable, CaseIterable {
        case rpc
        case api
        case credentials
    }

    /// Returns the listening Unix stream socket of this name, if one was passed.
    ///
    /// A single socket with a default name counts as the JSON-RPC socket: a socket unit without `FileDescriptorName=`
    /// passes its unit's name, and other launchers pass none.
    package func listener(_ name: Name) throws(PassedSocketError) -> Int32? {
        let wanted = name.rawValue
        var candidates = sockets.filter { $0.name == wanted }
        if name == .rpc, candidates.isEmpty, sockets.count == 1, sockets[0].hasDefaultName { candidates = sockets }
        guard let chosen = candidates.first else { return nil }
        guard candidates.count == 1 else {
            throw PassedSocketError(
                "\(candidates.count) sockets named \(wanted) were passed, and junctiond serves one: "
                    + "keep a single ListenStream= in the socket unit"
            )
        }
        guard sd_is_socket_unix(chosen.descriptor, Int32(SOCK_STREAM.rawValue), 1, nil, 0) > 0 else {
            throw PassedSocketError(
                "The passed socket \(chosen.name) (descriptor \(chosen.descriptor)) is not a listening Unix stream "
                    + "socket: use ListenStream= with a path, and Accept=no, in the socket unit"
            )
        }
        return chosen.descriptor
    }

    fileprivate static let unnamed = "unknown"
}

extension PassedSockets.Socket {
    fileprivate var hasDefaultName: Bool { name == PassedSockets.unnamed || name.hasSuffix(".socket") }
}

/// The error for a passed socket that cannot be used. It says what to change in the unit.
package struct PassedSocketError: Error, Equatable, CustomStringConvertible {
    package var description: String

    init(_ description: String) {
        self.description = description
    }
}
