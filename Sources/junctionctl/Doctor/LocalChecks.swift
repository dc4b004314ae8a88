import CLinux
import Glibc
import JunctionClient
import JunctionProtocol
import JunctionText

/// The checks without the daemon: its configuration, its units, its last errors, and the machine.
struct LocalChecks {
    var socket: SocketPath
    /// The given configuration file; nil means the default file.
    var configuration: String?

    /// The units and the configuration of the system say nothing about a daemon with another socket, which a user
    /// started by hand.
    private var isSystemService: Bool { socket.text == "/run/junctiond/\(socket.instance).sock" }

    var checks: [Diagnosis.Check] {
        var checks: [Diagnosis.Check] = []
        let instance = socket.instance
        if isSystemService || configuration != nil || getenv("JUNCTIOND_CONFIG") != nil {
            checks += ConfigurationProbe(file: configuration, of: instance).checks
        }
        guard isSystemService else { return checks }
        if let units = UnitProbe(of: instance) {
            checks += units.checks
        } else {
            checks.append(.init(name: "units", verdict: .note, detail: "the service manager does not answer"))
        }
        if let check = JournalProbe(of: instance, priority: "err", count: 1)?.check { checks.append(check) }
        if let check = Self.volatileState(of: instance) { checks.append(check) }
        return checks
    }

    /// Only the daemon can read the state directory, but every user can check the file system below it.
    private static func volatileState(of instance: InstanceName) -> Diagnosis.Check? {
        let place = "/var/lib"
        guard clinux_is_volatile(place) == 1 else { return nil }
        return .init(
            name: "volatile state",
            verdict: .problem,
            detail: "\(place) is in memory (tmpfs): a reboot costs the session",
            remedy: "have /var/lib/private/junctiond\(instance.suffix) on a disk"
        )
    }
}
