import JunctionProtocol
import JunctionText

/// The last lines of the unit in the journal.
struct JournalProbe: Equatable {
    var instance: InstanceName
    var lines: [String]

    /// Reads the last lines of at least this priority. Returns nil if the journal cannot be read.
    init?(of instance: InstanceName, priority: String, count: Int) {
        self.instance = instance
        let arguments = [
            "--unit=\(instance.service)", "--priority=\(priority)", "--lines=\(count)", "--output=short-iso",
            "--quiet",
            "--no-pager",
        ]
        guard let output = ProgramOutput(of: "journalctl", arguments), output.status == 0 else { return nil }
        lines = output.lines.map(String.init)
    }

    var check: Diagnosis.Check? {
        lines.last.map { line in
            Diagnosis.Check(
                name: "journal",
                verdict: .note,
                detail: "the last error of \(instance.service): \(line)",
                remedy: "'journalctl -u junctiond\(instance.suffix)' has what came before"
            )
        }
    }
}
