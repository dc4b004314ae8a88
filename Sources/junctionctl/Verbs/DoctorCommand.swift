import ArgumentParser
import JunctionClient
import JunctionProtocol

/// Looks the installation over, from both ends of the socket.
struct DoctorCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "doctor",
        abstract: "Looks the installation over and says what to do about each problem.",
        discussion: """
            Ends with exit code 1 when there is a problem. When the daemon cannot be reached, or does not allow this \
            user its own checks, the exit code is 69 or 77, after what can be seen from this side.
            """
    )

    /// A daemon that is well answers at once; one that is not should not hold up whoever wants to know.
    private static let patience = Duration.seconds(10)
    /// The daemon goes out to the provider for its own checks.
    private static let patienceForDiagnosis = Duration.seconds(90)

    @OptionGroup var options: GlobalOptions

    func run() throws {
        var checks = SocketCheck(path: options.path).checks
        let outcome = Result { () throws(JunctionError) in
            try askDaemon(&checks)
        }
        if case .failure(let error) = outcome {
            checks.append(.init(name: "daemon", verdict: .problem, detail: error.message, remedy: error.remedy))
        }
        try show(Diagnosis(checks: checks))
        try outcome.get()
        try end(checks.contains { $0.verdict == .problem } ? .refused : .done)
    }

    private func askDaemon(_ checks: inout [Diagnosis.Check]) throws(JunctionError) {
        var connection = try Connection(to: options.path)
        let daemon = try connection.perform(DaemonInfo.self, NoParams(), by: .after(Self.patience)).value
        checks.append(.init(comparing: daemon))
        let deadline = Deadline.after(Self.patienceForDiagnosis)
        checks += try connection.perform(DaemonDiagnose.self, NoParams(), by: deadline).value.checks
    }

    private func show(_ diagnosis: Diagnosis) throws {
        if options.json {
            try StandardOutput.json(diagnosis.write)
        } else {
            for check in diagnosis.checks { try StandardOutput.line(check.text) }
        }
    }
}

extension Diagnosis.Check {
    /// Whether this program and the daemon are of one release.
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

    /// One line, and another one for what to do.
    var text: String {
        let word = verdict.rawValue
        let first = word + String(repeating: " ", count: max(1, 9 - word.count)) + "\(name): \(detail)".onOneLine
        return remedy.map { "\(first)\n         \($0.onOneLine)" } ?? first
    }
}
