import CLinux
import Glibc

/// A network helper that this process started: a plain child at the other end of a pair of sockets.
///
/// The helper ends when its socket is closed. One that is stopped does not see that, so it is killed: by `end`, or by the kernel when the
/// thread that started it ends (`clinux_end_with_parent`). The event loop starts helpers: its thread ends only with this process.
package struct CourierProcess: Sendable {
    /// No other process gets this number before `end` has returned true.
    private let number: pid_t

    /// Kills the helper, even if it is stopped, and asks the kernel whether it has ended.
    ///
    /// - Returns: whether the process is gone. If not, the caller calls again later: the process stays as a zombie until then.
    package func end() -> Bool {
        kill(number, SIGKILL)
        return waitpid(number, nil, WNOHANG) != 0
    }

    /// Starts the program with one end of a pair of sockets as its standard input, and with nothing else of ours but
    /// standard error.
    ///
    /// - Returns: the other end, and the process.
    static func start(_ path: String) throws(CourierUnreachable) -> (socket: Int32, process: CourierProcess) {
        var pair: [Int32] = [-1, -1]
        let type = Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue)
        guard socketpair(AF_UNIX, type, 0, &pair) == 0 else {
            throw CourierUnreachable(.program(path: path), errno: errno)
        }
        var number: pid_t = 0
        let failure = clinux_start_program(path, pair[1], &number)
        close(pair[1])
        guard failure == 0 else {
            close(pair[0])
            throw CourierUnreachable(.program(path: path), errno: failure)
        }
        return (pair[0], CourierProcess(number: number))
    }
}
