import CLinux
import Glibc
import JunctionNotify

/// What the service manager is told for as long as this courier works, so that one that is stopped does not keep its place:
/// the daemon has given it up, and may not signal to another user's process.
///
/// The messages are those of sd_notify(3), and when they are due is what sd_watchdog_enabled(3) reads; libsystemd, and the five
/// libraries it brings, would be most of what a courier loads.
struct WatchdogHeartbeat {
    private let manager: NotifySocket
    /// In milliseconds.
    private let pause: Int64
    /// When the next one is due, by the clock since boot.
    private(set) var next = clinux_boot_milliseconds()

    /// - Returns: `nil` where nobody wants to hear of it, as by hand.
    init?(wantedBy environment: (String) -> String?) {
        guard let name = environment("NOTIFY_SOCKET"), name.utf8.count > 1, let manager = NotifySocket(name),
            let limit = environment("WATCHDOG_USEC").flatMap({ Int64($0) }), limit > 0,
            environment("WATCHDOG_PID").map({ $0 == String(getpid()) }) ?? true
        else { return nil }
        self.manager = manager
        // Half of it, as sd_watchdog_enabled(3) recommends.
        pause = max(limit / 2_000, 1)
    }

    /// Gives one, if it is due.
    mutating func give(at now: Int64) {
        guard now >= next else { return }
        let isSent = manager.send("WATCHDOG=1") == 0
        // The manager's queue is everybody's, or it starts anew, and our last sign is half of the time old: soon again.
        next = now + (isSent ? pause : min(pause, 1_000))
    }
}
