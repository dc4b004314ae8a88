import Glibc

/// The lock file of a socket. The process that holds the lock owns the path.
///
/// The file is never unlinked. If another process could remove it, two daemons could each hold a lock, one of them on a
/// file without a name.
struct SocketLock: ~Copyable {
    private let descriptor: Int32

    init(of socketPath: String) throws(SocketFault) {
        let path = socketPath + ".lock"
        let descriptor = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard descriptor >= 0 else { throw .system("Cannot open the lock file \(path)") }
        guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 else {
            let code = errno
            _ = close(descriptor)
            guard code == EWOULDBLOCK else { throw .system("Cannot lock \(path)", code) }
            throw .servedByAnother(
                "Another junctiond serves \(socketPath): stop it, or choose another path for this socket"
            )
        }
        self.descriptor = descriptor
    }

    deinit { _ = close(descriptor) }
}
