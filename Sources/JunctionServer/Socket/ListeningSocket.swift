import Glibc
import Synchronization

/// A socket that local programs connect to. Either the daemon created it, or the service manager passed it.
package final class ListeningSocket: Sendable {
    /// The path of the socket file, if there is one.
    package let path: String?
    /// The group of the socket file. Its members may call if the policy has no rules.
    package let group: UInt32?

    private let state: Mutex<State>

    private struct State: ~Copyable {
        var descriptor: Int32?
        var ownership: Ownership?
    }

    /// The lock and the file that the daemon bound. The daemon unlinks the path only if both are its own.
    private struct Ownership: ~Copyable {
        let lock: SocketLock
        let file: FileIdentity
    }

    /// The backlog for programs that connect in one burst. The kernel limits it to `net.core.somaxconn`.
    static let backlog: Int32 = 4_096

    /// Creates a socket for the daemon's own user only, without a moment in which other users could connect. For
    /// another mode or group, the service manager has to create the socket.
    ///
    /// The function replaces a stale socket, but never one that a program serves, and never a file that is not a
    /// socket.
    package init(creatingAt path: String) throws(SocketFault) {
        let address = try UnixAddress(path: path)
        try Self.makeDirectory(of: path)
        let lock = try SocketLock(of: path)
        try Self.removeStaleSocket(at: path, address)

        let descriptor = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        guard descriptor >= 0 else { throw .system("Cannot make a socket") }
        do throws(SocketFault) {
            // Linux gives the file the mode of the socket, less the umask. Setting the umask instead would affect files
            // that other threads create meanwhile, and a chmod after `bind` leaves a gap.
            guard fchmod(descriptor, 0o600) == 0 else { throw .system("Cannot set the mode of a socket") }
            guard address.bind(descriptor) == 0 else { throw .system("Cannot create the socket \(path)") }
            guard listen(descriptor, Self.backlog) == 0 else { throw .system("Cannot listen on \(path)") }
            guard let file = FileIdentity(of: path) else { throw .system("Cannot look at \(path)") }
            self.path = path
            group = file.group
            state = Mutex(State(descriptor: descriptor, ownership: Ownership(lock: lock, file: file)))
        } catch {
            _ = Glibc.close(descriptor)
            throw error
        }
    }

    /// Adopts a listening Unix stream socket that was passed to the process. Its file stays when the socket is closed.
    package init(adopting descriptor: Int32) {
        _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
        path = UnixAddress.path(of: descriptor)
        group = path.flatMap { FileIdentity(of: $0)?.group }
        state = Mutex(State(descriptor: descriptor))
    }

    deinit { close() }

    /// Returns the descriptor to the code that accepts from it and closes it.
    func takeDescriptor() -> Int32? {
        state.withLock { state in
            defer { state.descriptor = nil }
            return state.descriptor
        }
    }

    /// Closes the descriptor unless it was taken, unlinks the file if it is still the one that the daemon created, and
    /// releases the lock.
    package func close() {
        if let descriptor = takeDescriptor() { _ = Glibc.close(descriptor) }
        state.withLock { state in
            if let path, let file = state.ownership?.file, FileIdentity(of: path) == file { _ = unlink(path) }
            state.ownership = nil
        }
    }

    // MARK: Steps

    private static func makeDirectory(of path: String) throws(SocketFault) {
        guard let slash = path.lastIndex(of: "/"), slash != path.startIndex else { return }
        let directory = String(path[..<slash])
        guard mkdir(directory, 0o700) != 0, errno != EEXIST else { return }
        throw .system("Cannot make the directory \(directory) for the socket")
    }

    private static func removeStaleSocket(at path: String, _ address: UnixAddress) throws(SocketFault) {
        guard let file = FileIdentity(of: path) else {
            guard errno == ENOENT else { throw .system("Cannot look at \(path)") }
            return
        }
        guard file.isSocket else {
            throw .impossible("\(path) is not a socket: remove it, or choose another path for this socket")
        }
        // Programs that do not use the lock may serve the path, such as a socket unit of the service manager.
        let probe = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue | SOCK_NONBLOCK.rawValue), 0)
        guard probe >= 0 else { throw .system("Cannot make a socket") }
        defer { _ = Glibc.close(probe) }
        guard address.connect(probe) != 0, errno != EAGAIN else {
            throw .servedByAnother("Another program serves \(path): stop it, or choose another path for this socket")
        }
        guard errno == ECONNREFUSED else { throw .system("Cannot tell whether \(path) is still served") }
        guard unlink(path) == 0 else { throw .system("Cannot replace the stale socket \(path)") }
    }
}

/// The identity of the file that a path named. A path that later names another file is not the daemon's.
private struct FileIdentity: Equatable {
    let device: UInt64
    let inode: UInt64
    let group: UInt32
    let isSocket: Bool

    init?(of path: String) {
        var status = stat()
        guard lstat(path, &status) == 0 else { return nil }
        device = UInt64(status.st_dev)
        inode = UInt64(status.st_ino)
        group = status.st_gid
        isSocket = status.st_mode & S_IFMT == S_IFSOCK
    }

    static func == (left: FileIdentity, right: FileIdentity) -> Bool {
        (left.device, left.inode) == (right.device, right.inode)
    }
}
