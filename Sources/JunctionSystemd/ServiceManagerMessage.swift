import Glibc

/// One thing that the service manager may want to know about this process.
package enum ServiceManagerMessage: Equatable, Sendable {
    /// The socket answers and the state is loaded; also ends a reload.
    case ready
    /// What is going on, in plain words for `systemctl status`. Never a secret.
    case status(String)
    /// The configuration is being read again; the time comes from `ServiceManagerMessage.monotonicMicroseconds()`.
    case reloading(atMonotonicMicroseconds: UInt64)
    /// The shutdown has begun.
    case stopping
    /// A heartbeat for the watchdog.
    case alive
    /// What the service manager keeps under this name is not needed any more.
    case forget(name: String)

    /// The time that `reloading` has to carry: the monotonic clock. With the wall clock's, or in a datagram of its
    /// own, the service manager takes the reload for one that never began and kills the service.
    package static func monotonicMicroseconds() -> UInt64 {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        return UInt64(time.tv_sec) * 1_000_000 + UInt64(time.tv_nsec) / 1_000
    }

    /// The lines of the notify protocol that say it.
    var text: String {
        switch self {
        case .ready: "READY=1"
        case .status(let words): "STATUS=" + ServiceManagerMessage.singleLine(words)
        case .reloading(let time): "RELOADING=1\nMONOTONIC_USEC=\(time)"
        case .stopping: "STOPPING=1"
        case .alive: "WATCHDOG=1"
        case .forget(let name): "FDSTOREREMOVE=1\nFDNAME=" + name
        }
    }

    /// The service manager drops a datagram over 4096 bytes as a whole, and this many characters always fit.
    private static let longestStatus = 900

    /// A line break in the status would begin an assignment of its own, such as `MAINPID=`.
    private static func singleLine(_ words: String) -> String {
        var line = String.UnicodeScalarView()
        for scalar in words.unicodeScalars.prefix(longestStatus) {
            line.append(scalar.properties.generalCategory == .control ? " " : scalar)
        }
        return String(line)
    }
}
