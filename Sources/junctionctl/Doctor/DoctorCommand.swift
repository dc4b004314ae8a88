import ArgumentParser
import JunctionClient
import JunctionJSON
import JunctionProtocol

/// Checks the installation, from both ends of the socket.
struct DoctorCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "doctor",
        abstract: "Looks the installation over and says what to do about each problem.",
        discussion: """
            Ends with exit code 1 when there is a problem. When the daemon cannot be reached, or does not allow this \
            user its own checks, the exit code is 69 or 77. Then it first prints what it can check itself: the configuration, \
            the units, the journal, and the state of the session if this user may see that.
            """
    )

    /// A healthy daemon answers at once. A daemon that hangs must not delay the report.
    private static let patience = Duration.seconds(10)
    /// The daemon's own checks ask the provider.
    private static let patienceForDiagnosis = Duration.seconds(90)

    @Flag(
        help: """
            Print everything that whoever helps wants to see: findings, versions, configuration, units and journal, \
            without secrets and without the user's id.
            """
    )
    var bundle = false

    @Option(
        help: ArgumentHelp(
            "The daemon's configuration, where the daemon cannot be asked.",
            discussion:
                "By default $JUNCTIOND_CONFIG, then /etc/junctiond/NAME.toml for the system service of that instance.",
            valueName: "file"
        ),
        completion: .file()
    )
    var config: String?

    @OptionGroup var options: GlobalOptions

    func run() throws {
        var checks = SocketCheck(path: options.path).checks
        var snapshot: Snapshot?
        let outcome = Result { () throws(JunctionError) in
            try askDaemon(&checks, &snapshot)
        }
        if case .failure(let error) = outcome {
            checks.append(.init(name: "daemon", verdict: .problem, detail: error.message, remedy: error.remedy))
            if let snapshot { checks += SessionFindings(snapshot, now: .now).checks }
            checks += LocalChecks(socket: options.path, configuration: config).checks
        }
        checks = checks.withoutRepeatedRefusals
        let diagnosis = Diagnosis(checks: checks)
        guard !bundle else {
            let file = config ?? diagnosis.configurationFile
            return try show(Bundle(diagnosis, configuration: file, of: options.path.instance, .of(snapshot)))
        }
        try show(diagnosis)
        try outcome.get()
        try end(checks.contains { $0.verdict == .problem } ? .refused : .done)
    }

    /// - Parameter snapshot: the part of the session that this user may see, if any.
    private func askDaemon(_ checks: inout [Diagnosis.Check], _ snapshot: inout Snapshot?) throws(JunctionError) {
        var connection = try Connection(to: options.path, by: deadline(Self.patience))
        do throws(JunctionError) {
            let daemon = try connection.perform(DaemonInfo.self, NoParams(), by: deadline(Self.patience)).value
            checks.append(.init(comparing: daemon))
            snapshot = try connection.perform(SessionStatus.self, NoParams(), by: deadline(Self.patience)).value
        } catch  where error.kind == .permissionDenied {
            // The daemon's own checks need another capability.
        }
        let deadline = deadline(Self.patienceForDiagnosis)
        checks += try connection.perform(DaemonDiagnose.self, NoParams(), by: deadline).value.checks
    }

    /// Returns the default deadline, or an earlier one from `--timeout`.
    private func deadline(_ usual: Duration) -> Deadline {
        .after(options.timeout.map { min(usual, .seconds(min($0, 1e9))) } ?? usual)
    }

    private func show(_ diagnosis: Diagnosis) throws {
        if options.json {
            try StandardOutput.json(diagnosis.write)
        } else {
            for check in diagnosis.checks { try StandardOutput.line(check.text) }
        }
    }

    private func show(_ bundle: Bundle) throws {
        guard options.json else { return try StandardOutput.line(bundle.text) }
        try StandardOutput.json { writer in
            writer.object { writer in
                writer.array("parts") { writer in
                    for part in bundle.parts {
                        writer.object { writer in
                            writer.member("name", part.name)
                            writer.member("text", part.lines.joined(separator: "\n"))
                        }
                    }
                }
            }
        }
    }
}

extension Redaction {
    fileprivate static func of(_ snapshot: Snapshot?) -> Redaction {
        Redaction(privateWords: [snapshot?.userId, snapshot?.externalUserId, snapshot?.teamId].compactMap(\.self))
    }
}

extension Diagnosis {
    /// The configuration file of the daemon that answered, if the daemon has named it.
    var configurationFile: String? {
        let sentences = [" is in force", " is not there:", " or its conf.d was changed ", " is refused;"]
        guard let detail = checks.first(where: { $0.name == "configuration" })?.detail, detail.hasPrefix("/") else {
            return nil
        }
        return sentences.compactMap { detail.firstRange(of: $0)?.lowerBound }.min().map { String(detail[..<$0]) }
    }
}

extension [Diagnosis.Check] {
    /// The checks without those that repeat why the configuration is refused. The first one has the right remedy: it is
    /// from the daemon if that answers, and a reload is then sufficient.
    var withoutRepeatedRefusals: Self {
        var reasons: [String] = []
        return filter { check in
            guard !reasons.contains(where: { check.detail.firstRange(of: $0) != nil }) else { return false }
            if let end = check.detail.firstRange(of: " is refused: ")?.upperBound, end < check.detail.endIndex {
                reasons.append(String(check.detail[end...]))
            }
            return true
        }
    }
}

extension Diagnosis.Check {
    /// Compares the release of this program with that of the daemon.
    init(comparing daemon: DaemonDescription, with version: String = JunctionVersion.current) {
        self.init(name: "version", verdict: .ok, detail: "junctiond \(daemon.version) runs since \(daemon.startedAt)")
        if daemon.protocolVersion != DaemonDescription.protocolVersion {
            verdict = .problem
            detail += " and speaks protocol \(daemon.protocolVersion), not \(DaemonDescription.protocolVersion)"
            remedy = "install junctiond and junctionctl of one release, and restart the daemon"
        } else if daemon.version != version {
            verdict = .note
            detail += ", junctionctl is \(version)"
            remedy = "restart the daemon if it was updated while it ran"
        }
    }

    /// One line, and a second one for the remedy.
    var text: String {
        let word = verdict.rawValue
        let first = word + String(repeating: " ", count: max(1, 9 - word.count)) + "\(name): \(detail)".onOneLine
        return remedy.map { "\(first)\n         \($0.onOneLine)" } ?? first
    }
}
