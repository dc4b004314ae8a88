import Glibc
import JunctionProtocol
import JunctionText
import JunctionToml

/// The result of the daemon's own configuration check, for when the daemon does not answer.
struct ConfigurationProbe {
    /// The file that the daemon reads.
    var file: String
    /// Whether an option named it.
    private let isGiven: Bool
    /// Whether an option or the environment named the file, which then must exist.
    private let isNamed: Bool
    private let instance: InstanceName

    /// Chooses the given file, or else the one that the daemon would read.
    init(file: String?, of instance: InstanceName) {
        let named = getenv("JUNCTIOND_CONFIG").map { String(cString: $0) }.flatMap { $0.isEmpty ? nil : $0 }
        self.file = file ?? named ?? "/etc/junctiond/\(instance).toml"
        isGiven = file != nil
        isNamed = file != nil || named != nil
        self.instance = instance
    }

    var checks: [Diagnosis.Check] {
        if isGiven, access(file, F_OK) != 0 {
            // The path is not shown, because a text that is not a file may be a secret.
            let why = String(cString: strerror(errno))
            return [
                .init(
                    name: "configuration",
                    verdict: .problem,
                    detail: "the file given to --config cannot be read: \(why)",
                    remedy: "name the file that the daemon reads"
                )
            ]
        }
        if let hidden = hiddenPlace {
            return [
                .init(
                    name: "configuration",
                    verdict: .note,
                    detail: "\(hidden) cannot be looked at by this user",
                    remedy: "run 'junctionctl doctor' as root"
                )
            ]
        }
        // The daemon's program inherits the name.
        setenv("JUNCTIOND_INSTANCE", instance.description, 1)
        guard let output = ProgramOutput(of: Self.daemon, ["--check-config"] + (isNamed ? ["--config", file] : []))
        else {
            return [
                .init(
                    name: "configuration",
                    verdict: .note,
                    detail: "\(file) was not checked: there is no junctiond beside junctionctl that says anything",
                    remedy: "install junctiond"
                )
            ]
        }
        return Self.checks(of: output, file, instance)
    }

    /// The file, its folder or a file in that folder that this user may not read, although the daemon may.
    private var hiddenPlace: String? {
        let folder = ConfigurationFolder(instance.configurationFolder, beside: file)
        let files = (try? folder.files()) ?? []
        return ([file, folder.path] + files).first { access($0, F_OK) == 0 && access($0, R_OK) != 0 }
    }

    /// Reads the output of `junctiond --check-config`: the verdict, and notes about possible mistakes.
    static func checks(
        of output: ProgramOutput,
        _ file: String,
        _ instance: InstanceName = .plain
    ) -> [Diagnosis.Check] {
        let prefix = "junctiond: "
        let said = output.lines.map { $0.hasPrefix(prefix) ? String($0.dropFirst(prefix.count)) : String($0) }
        guard output.status == 0 else {
            // A user or group that cannot be looked up now is not a mistake in the file.
            let isTemporary = output.status == ExitStatus.temporary.rawValue
            return [
                .init(
                    name: "configuration",
                    verdict: .problem,
                    detail: "the configuration is refused: \(said.last ?? "the check ended with \(output.status)")",
                    remedy: isTemporary
                        ? "mend the name service; the unit tries again by itself"
                        : "correct it, check it by '\(instance.check)', and run 'systemctl restart junctiond\(instance.suffix)'"
                )
            ]
        }
        var checks: [Diagnosis.Check] = []
        for (raw, line) in zip(output.lines, said) {
            if raw.hasPrefix(prefix) {
                checks.append(note(line))
            } else {
                checks.insert(.init(name: "configuration", verdict: .ok, detail: line), at: 0)
            }
        }
        return checks
    }

    private static func note(_ line: String) -> Diagnosis.Check {
        if line.contains("matches nobody") {
            return .init(
                name: "access",
                verdict: .problem,
                detail: line,
                remedy: "create the account, or correct the entry; without it the entry gives no rights"
            )
        }
        if let remedy = line.firstRange(of: "Pass it as a credential") {
            let detail = String(line[..<remedy.lowerBound].trimmed)
            let isOpen = line.contains("every user of this machine")
            return .init(
                name: "secret file",
                verdict: isOpen ? .problem : .note,
                detail: detail,
                remedy: String(line[remedy.lowerBound...])
            )
        }
        return .init(name: "configuration", verdict: .note, detail: line)
    }

    /// The daemon's program: beside this program, or else in `$PATH`.
    static var daemon: String {
        var room = [CChar](repeating: 0, count: Int(PATH_MAX) + 1)
        let count = readlink("/proc/self/exe", &room, Int(PATH_MAX))
        guard count > 0 else { return "junctiond" }
        let own = String(decoding: room.prefix(count).map(UInt8.init(bitPattern:)), as: UTF8.self)
        guard let slash = own.lastIndex(of: "/") else { return "junctiond" }
        let beside = own[..<slash] + "/junctiond"
        return access(String(beside), X_OK) == 0 ? String(beside) : "junctiond"
    }
}

extension StringProtocol {
    var trimmed: SubSequence {
        let from = drop { $0.isWhitespace }
        guard let last = from.lastIndex(where: { !$0.isWhitespace }) else { return from }
        return from[...last]
    }
}
