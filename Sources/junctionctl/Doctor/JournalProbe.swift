import JunctionProtocol

/// The last lines of the unit in the journal.
struct JournalProbe: Equatable {
    var lines: [String]

    /// Reads the last lines of at least this priority. Returns nil if the journal cannot be read.
    init?(priority: String, count: Int) {
        let arguments = [
            "--unit=\(UnitProbe.service)", "--priority=\(priority)", "--lines=\(count)", "--output=short-iso",
            "--quiet",
            "--no-pager",
        ]
        guard let output = ProgramOutput(of: "journalctl", arguments), output.status == 0 else { return nil }
        lines = output.lines.map(String.init)
    }

    init(lines: [String]) {
        self.lines = lines
    }

    var check: Diagnosis.Check? {
        lines.last.map { line in
            Diagnosis.Check(
                name: "journal",
                verdict: .note,
                detail: "the last error of \(UnitProbe.service): \(line)",
                remedy: "'journalctl -u junctiond' has what came before"
            )
        }
    }
}
