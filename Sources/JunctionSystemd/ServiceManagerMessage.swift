import Glibc

/// One message about this process to the service manager.
package enum ServiceManagerMessage: Equatable, Sendable {
    /// The socket accepts connections and the state is loaded. Also ends a reload.
    case ready
    /// A plain text for `systemctl status`, without secrets.
    case status(String)
    /// The daemon reads the configuration again. The time comes from `ServiceManagerMessage.monotonicMicroseconds()`.
    case reloading(atMonotonicMicroseconds: UInt64)
    case stopping
    case alive
    /// The service manager may drop what it keeps under this name.
    case forget(name: String)

    /// Returns the time for `reloading`, from the monotonic clock. With the time of the wall clock, or in a separate
    /// datagram, the service manager assumes that the reload never began, and kills the service.
    package static func monotonicMicroseconds() -> UInt64 {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        return UInt64(time.tv_sec) * 1_000_000 + UInt64(time.tv_nsec) / 1_000
    }

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

    /// The service manager drops a datagram of more than 4096 bytes completely. This many characters always fit.
    private static let longestStatus = 900

    /// Replaces control characters. A line break in the status would begin another assignment, such as `MAINPID=`.
    private static func singleLine(_ words: String) -> String {
        var line = String.UnicodeScalarView()
        for scalar in words.unicodeScalars.prefix(longestStatus) {
            line.append(scalar.properties.generalCategory == .control ? " " : scalar)
        }
        return String(line)
    }
}
