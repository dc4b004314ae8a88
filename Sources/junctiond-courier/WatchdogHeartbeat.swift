import CLinux
import Glibc
import JunctionNotify

/// Watchdog heartbeats for the service manager while the helper works. If the helper is stopped, the service manager
/// kills it and its place becomes free. The daemon has given it up by then, and cannot signal a process of another
/// user.
///
/// The messages are those of sd_notify(3), and the interval comes from sd_watchdog_enabled(3). libsystemd is not used:
/// it and the five libraries that it loads would be most of the helper's memory.
struct WatchdogHeartbeat {
    private let manager: NotifySocket
    /// In milliseconds.
    private let pause: Int64
    /// When the next heartbeat is due, on the boot-time clock.
    private(set) var next = clinux_boot_milliseconds()

    /// - Returns: `nil` if the service manager has not requested heartbeats, as in a start by hand.
    init?(wantedBy environment: (String) -> String?) {
        guard let name = environment("NOTIFY_SOCKET"), name.utf8.count > 1, let manager = NotifySocket(name),
            let limit = environment("WATCHDOG_USEC").flatMap({ Int64($0) }), limit > 0,
            environment("WATCHDOG_PID").map({ $0 == String(getpid()) }) ?? true
        else { return nil }
        self.manager = manager
        // Half of the limit, as sd_watchdog_enabled(3) recommends.
        pause = max(limit / 2_000, 1)
    }

    mutating func give(at now: Int64) {
        guard now >= next else { return }
        let isSent = manager.send("WATCHDOG=1") == 0
        // The service manager's queue may be full, or the service manager is restarting. The last heartbeat is half of
        // the limit old, so retry within a second.
        next = now + (isSent ? pause : min(pause, 1_000))
    }
}
