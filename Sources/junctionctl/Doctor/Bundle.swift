import Glibc
import JunctionClient
import JunctionProtocol
import JunctionText
import JunctionToml

/// A report for support requests, without secrets.
struct Bundle {
    /// One part of the report: a heading and lines.
    struct Part: Equatable {
        var name: String
        var lines: [String]
    }

    private(set) var parts: [Part]

    /// Collects the report.
    ///
    /// - Parameters:
    ///   - diagnosis: the findings of doctor.
    ///   - instance: the installation that the report is about.
    ///   - redaction: removes private text from each line.
    init(_ diagnosis: Diagnosis, configuration: String?, of instance: InstanceName, _ redaction: Redaction) {
        let file = ConfigurationProbe(file: configuration, of: instance).file
        // If the file does not exist, its path is not shown, because it may be a secret.
        let isMissing = configuration != nil && access(file, F_OK) != 0
        let configuration = Part(
            name: isMissing ? "configuration" : "configuration \(file)",
            lines: Self.settings(file, ConfigurationText.read)
        )
        let before = [
            Part(name: "findings", lines: diagnosis.checks.map(\.text)), Part(name: "versions", lines: Self.versions),
        ]
        let after = [
            Part(
                name: "units",
                lines: UnitProbe(of: instance)?.units.map(\.summary) ?? ["the service manager does not answer"]
            ),
            Part(
                name: "journal",
                lines: JournalProbe(of: instance, priority: "warning", count: 20)?.lines ?? ["it cannot be read"]
            ),
        ]
        let parts = before + [configuration] + Self.fragments(beside: file, of: instance) + after
        self.parts = parts.map { Part(name: $0.name, lines: $0.lines.map(redaction.of)) }
    }

    var text: String {
        let head = """
            # What junctionctl \(JunctionVersion.current) found at \(Timestamp.now). Tokens, keys, ids of users and credentials \
            of proxies are hidden;
            # read it all the same before you send it.
            """
        return ([head] + parts.map { "\n== \($0.name)\n" + $0.lines.joined(separator: "\n") }).joined(separator: "\n")
    }

    /// Returns the redacted files in the folder beside the configuration file, each as a part of its own.
    private static func fragments(beside file: String, of instance: InstanceName) -> [Part] {
        let folder = ConfigurationFolder(instance.configurationFolder, beside: file)
        do throws(UnreadableConfiguration) {
            return try folder.files().map {
                Part(name: "configuration \($0.onOneLine)", lines: settings($0, ConfigurationText.readFragment))
            }
        } catch {
            return [Part(name: "configuration \(folder.path)", lines: ["it \(error.reason)"])]
        }
    }

    private static func settings(
        _ file: String,
        _ read: (String) throws(UnreadableConfiguration) -> [UInt8]
    ) -> [String] {
        do throws(UnreadableConfiguration) {
            let shown = RedactedConfiguration(try read(file)).lines
            return shown.isEmpty ? ["nothing is set"] : shown
        } catch {
            return ["it \(error.reason)"]
        }
    }

    private static var versions: [String] {
        var machine = utsname()
        uname(&machine)
        let kernel = withUnsafeBytes(of: machine.release) { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) }
        let kind = withUnsafeBytes(of: machine.machine) { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) }
        let daemon = ProgramOutput(of: ConfigurationProbe.daemon, ["--version"])?.lines.first.map(String.init)
        let manager = ProgramOutput(of: "systemctl", ["--version"])?.lines.first.map(String.init)
        return ["junctionctl \(JunctionVersion.current)", daemon ?? "no junctiond", manager ?? "no systemd"]
            + ["Linux \(kernel) \(kind)"]
    }
}
