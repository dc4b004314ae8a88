import CLinux
import Glibc

/// The process attributes that the daemon sets at its start.
package enum ProcessHardening {
    /// Forbids core dumps and debuggers, makes new files private, ignores SIGPIPE, and raises the limit of open
    /// descriptors.
    ///
    /// - Returns: one line for each measure that failed. The daemon can run without any of them.
    package static func apply() -> [String] {
        var refused: [String] = []
        func note(_ action: String, _ failure: Int32) {
            if failure != 0 { refused.append(SystemFailure(action, errno: failure).description) }
        }
        note("forbid core dumps", clinux_forbid_dumps())
        note("allow more open descriptors", raiseDescriptorLimit())
        umask(0o077)
        // If the peer closes a connection during a write, the write returns an error and the process continues.
        signal(SIGPIPE, SIG_IGN)
        return refused
    }

    /// Raises the soft limit to the hard limit. The soft limit is low only for programs that use select(2).
    private static func raiseDescriptorLimit() -> Int32 {
        let resource = __rlimit_resource_t(RLIMIT_NOFILE.rawValue)
        var limit = rlimit()
        guard getrlimit(resource, &limit) == 0 else { return errno }
        limit.rlim_cur = limit.rlim_max
        return setrlimit(resource, &limit) == 0 ? 0 : errno
    }
}
