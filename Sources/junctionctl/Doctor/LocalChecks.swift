import CLinux
import Glibc
import JunctionClient
import JunctionProtocol

/// What can be seen of the installation without the daemon: its configuration, its units, its last words, and the machine.
struct LocalChecks {
    var socket: SocketPath
    /// The configuration that was named; nothing means where it usually is.
    var configuration: String?

    /// A daemon that somebody runs by hand elsewhere has nothing to do with the system's units and configuration.
    private var isSystemService: Bool { socket.text == "/run/junctiond/junctiond.sock" }

    var checks: [Diagnosis.Check] {
        var checks: [Diagnosis.Check] = []
        if isSystemService || configuration != nil || getenv("JUNCTIOND_CONFIG") != nil {
            checks += ConfigurationProbe(file: configuration).checks
        }
        guard isSystemService else { return checks }
        if let units = UnitProbe() {
            checks += units.checks
        } else {
            checks.append(.init(name: "units", verdict: .note, detail: "the service manager says nothing of them"))
        }
        if let check = JournalProbe(priority: "err", count: 1)?.check { checks.append(check) }
        if let check = Self.volatileState { checks.append(check) }
        return checks
    }

    /// The state directory itself is the daemon's alone; what it stands on is everybody's to see.
    private static var volatileState: Diagnosis.Check? {
        let place = "/var/lib"
        guard clinux_is_volatile(place) == 1 else { return nil }
        return .init(
            name: "volatile state",
            verdict: .problem,
            detail: "\(place) is in memory (tmpfs): a reboot costs the session",
            remedy: "have /var/lib/private/junctiond on a disk"
        )
    }
}
