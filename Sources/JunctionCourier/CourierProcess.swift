import CLinux
import Glibc

/// A courier as a child of this process.
enum CourierProcess {
    /// Starts the program with one end of a pair of sockets as its standard input, and with nothing else of ours but
    /// standard error.
    static func start(_ path: String) throws(CourierUnreachable) -> Int32 {
        var pair: [Int32] = [-1, -1]
        let type = Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue)
        guard socketpair(AF_UNIX, type, 0, &pair) == 0 else {
            throw CourierUnreachable(.program(path: path), errno: errno)
        }
        var process: Int32 = 0
        let failure = clinux_start_program(path, pair[1], &process)
        close(pair[1])
        guard failure == 0 else {
            close(pair[0])
            throw CourierUnreachable(.program(path: path), errno: failure)
        }
        waitForEnd(of: process)
        return pair[0]
    }

    /// Somebody has to ask how a child ended, or it stays as a zombie. A thread of its own neither polls nor touches how
    /// the whole process deals with its other children.
    private static func waitForEnd(of process: pid_t) {
        var attributes = pthread_attr_t()
        pthread_attr_init(&attributes)
        defer { pthread_attr_destroy(&attributes) }
        pthread_attr_setdetachstate(&attributes, Int32(PTHREAD_CREATE_DETACHED))
        pthread_attr_setstacksize(&attributes, 1 << 16)
        var thread = pthread_t()
        // Without a thread it stays a zombie until we end: a small price, and no reason to do without a network.
        _ = pthread_create(
            &thread,
            &attributes,
            { argument in
                let process = pid_t(truncatingIfNeeded: Int(bitPattern: argument))
                while waitpid(process, nil, 0) < 0, errno == EINTR {}
                return nil
            },
            UnsafeMutableRawPointer(bitPattern: Int(process))
        )
    }
}
