import CLinux
import Glibc
import JunctionClient
import JunctionProtocol

/// The checks without the daemon: its configuration, its units, its last errors, and the machine.
struct LocalChecks {
    var socket: SocketPath
    /// The given configuration file; nil means the default file.
    var configuration: String?

    /// The units and the configuration of the system say nothing about a daemon with another socket, which a user
    /// started by hand.
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
            checks.append(.init(name: "units", verdict: .note, detail: "the service manager does not answer"))
        }
        if let check = JournalProbe(priority: "err", count: 1)?.check { checks.append(check) }
        if let check = Self.volatileState { checks.append(check) }
        return checks
    }

    /// Only the daemon can read the state directory, but every user can check the file system below it.
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
