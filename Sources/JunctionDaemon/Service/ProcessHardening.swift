import CLinux
import Glibc

/// What the process gives up and asks for at its very start.
package enum ProcessHardening {
    /// Forbids core dumps and debuggers, makes new files private, survives closed connections, and allows as many
    /// descriptors as the system does.
    ///
    /// - Returns: one line for each measure that the system refused; none of them keeps the daemon from its work.
    package static func apply() -> [String] {
        var refused: [String] = []
        func note(_ action: String, _ failure: Int32) {
            if failure != 0 { refused.append(SystemFailure(action, errno: failure).description) }
        }
        note("forbid core dumps", clinux_forbid_dumps())
        note("allow more open descriptors", raiseDescriptorLimit())
        umask(0o077)
        // Whoever closes a connection while it is written to gets an error on that connection, not our end.
        signal(SIGPIPE, SIG_IGN)
        return refused
    }

    /// From the soft limit, low for the sake of programs that use select(2), up to the hard one.
    private static func raiseDescriptorLimit() -> Int32 {
        let resource = __rlimit_resource_t(RLIMIT_NOFILE.rawValue)
        var limit = rlimit()
        guard getrlimit(resource, &limit) == 0 else { return errno }
        limit.rlim_cur = limit.rlim_max
        return setrlimit(resource, &limit) == 0 ? 0 : errno
    }
}
