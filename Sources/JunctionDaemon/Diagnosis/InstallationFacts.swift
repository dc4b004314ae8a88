import JunctionProtocol
import JunctionServer
import JunctionSession
import JunctionSystemd
import JunctionText

/// The facts about the installation that `doctor` checks, at one moment.
struct InstallationFacts: Equatable, Sendable {
    var configurationOrigin: ConfigurationOrigin
    var configuration = ConfigurationStanding.inForce
    /// One line for each access entry that matches no caller.
    var unmatchedAccess: [String] = []
    var isUnderServiceManager = false
    /// Whether systemd starts the daemon after a reboot. Nil if the daemon's unit is unknown.
    var enablement: UnitEnablement?
    var stateDirectory = ""
    /// Whether the state directory is on a file system that a reboot empties.
    var isStateVolatile = false
    var now: WallTime
    /// When the record that was found at the start had been written.
    var recordWrittenAt: WallTime?
}

extension InstallationFacts {
    /// The findings of `doctor` about these facts.
    var findings: [ProbeFinding] {
        [configurationFinding] + unmatchedAccess.map(Self.access) + [enabled, volatile].compactMap(\.self) + [clock]
    }

    private var configurationFinding: ProbeFinding {
        let name = "configuration"
        let (file, fragments) = (configurationOrigin.path, configurationOrigin.andFragments)
        switch configuration {
        case .inForce:
            let inForce =
                configurationOrigin.exists ? "is in force" : "is not there: the built-in defaults are in force"
            return ProbeFinding(name: name, verdict: .ok, detail: "\(file) \(inForce)\(fragments).")
        case .needsReload:
            return ProbeFinding(
                name: name,
                verdict: .note,
                detail: "\(file) or its conf.d was changed and is not in force yet.",
                remedy: "systemctl reload \(InstanceName.ofThisProcess.unit) (or send it SIGHUP)."
            )
        case .needsRestart(let settings):
            return ProbeFinding(
                name: name,
                verdict: .note,
                detail: "\(file) or its conf.d was changed in what takes effect at the next start only: "
                    + settings.joined(separator: ", ") + ".",
                remedy: "systemctl restart \(InstanceName.ofThisProcess.unit): the session is kept."
            )
        case .refused(let reason):
            return ProbeFinding(
                name: name,
                verdict: .problem,
                detail: "\(file) is refused; an older one is in force, and a restart would fail: \(reason)",
                remedy: "Correct it, check it by '\(InstanceName.ofThisProcess.check)', and run systemctl reload "
                    + "\(InstanceName.ofThisProcess.unit)."
            )
        }
    }

    private static func access(_ note: String) -> ProbeFinding {
        let remedy = "Create the account, or correct the entry; without it the entry gives no rights."
        return ProbeFinding(name: "access", verdict: .problem, detail: note + ".", remedy: remedy)
    }

    private var enabled: ProbeFinding? {
        guard let enablement else { return nil }
        let service = enablement.service
        if enablement.isServiceEnabled {
            return ProbeFinding(name: "start at boot", verdict: .ok, detail: "\(service) is enabled.")
        }
        let remedy = "systemctl enable \(service): then the session is renewed from boot on."
        guard enablement.isSocketEnabled else {
            return ProbeFinding(
                name: "start at boot",
                verdict: .problem,
                detail: "Neither \(service) nor its socket is enabled: after a reboot nothing starts it.",
                remedy: remedy
            )
        }
        return ProbeFinding(
            name: "start at boot",
            verdict: .note,
            detail: "\(service) is not enabled: after a reboot it starts only when a client connects.",
            remedy: remedy
        )
    }

    private var volatile: ProbeFinding? {
        guard isStateVolatile else { return nil }
        return ProbeFinding(
            name: "volatile state",
            verdict: isUnderServiceManager ? .problem : .note,
            detail: "\(stateDirectory) is in memory (tmpfs): a reboot costs the session.",
            remedy: "Have the state directory on a disk: --state-dir, or a mount at /var/lib/private/junctiond."
        )
    }

    /// A device without a clock battery starts with a time in the past. The daemon cannot check expiry times then.
    private var clock: ProbeFinding {
        if let recordWrittenAt, now < recordWrittenAt {
            let words = Diagnosis.Check.clockBeforeRecord(now: Timestamp(now), written: Timestamp(recordWrittenAt))
            return ProbeFinding(name: words.name, verdict: .problem, detail: words.detail, remedy: words.remedy)
        }
        guard now < Self.releaseYear else {
            return ProbeFinding(name: "clock", verdict: .ok, detail: "The wall clock is plausible.")
        }
        return ProbeFinding(
            name: "clock",
            verdict: .problem,
            detail: "The wall clock is before 2026, before this program was made.",
            remedy: "Set the time, or enable a time service such as systemd-timesyncd."
        )
    }

    private static let releaseYear = WallTime(milliseconds: 1_767_225_600_000)
}
