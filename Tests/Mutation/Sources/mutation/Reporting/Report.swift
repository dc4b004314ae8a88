import Foundation

/// The verdict of each mutant, written line by line, so that an interrupted run can be resumed.
struct Report {
    private static let columns = [
        "number", "verdict", "stage", "seconds", "file", "line", "operator", "original", "mutated", "test",
    ]

    let file: URL
    private(set) var entries: [Int: Trial.Outcome] = [:]

    /// Opens the report.
    ///
    /// - Parameter resuming: whether to continue an earlier report with the same fingerprint of the sources.
    init(_ file: URL, fingerprint: String, resuming: Bool) throws {
        self.file = file
        let heading = "# \(fingerprint)\n"
        if resuming, let text = try? String(contentsOf: file, encoding: .utf8), text.hasPrefix(heading) {
            for line in text.split(separator: "\n").dropFirst(2) { take(line) }
            return
        }
        if resuming { say("The sources or the options are not those of the report: beginning anew.") }
        try (heading + Self.columns.joined(separator: "\t") + "\n").write(to: file, atomically: true, encoding: .utf8)
    }

    private mutating func take(_ line: Substring) {
        let parts = line.split(separator: "\t", omittingEmptySubsequences: false)
        guard parts.count == Self.columns.count, let number = Int(parts[0]),
            let verdict = Verdict(rawValue: String(parts[1])), let seconds = Double(parts[3])
        else { return }
        let stage = Trial.Stage(rawValue: String(parts[2]))
        entries[number] = Trial.Outcome(verdict: verdict, stage: stage, seconds: seconds, test: String(parts[9]))
    }

    mutating func add(_ mutant: Mutant, _ outcome: Trial.Outcome) throws {
        entries[mutant.number] = outcome
        let fields = [
            String(mutant.number), outcome.verdict.rawValue, outcome.stage?.rawValue ?? "",
            String((outcome.seconds * 100).rounded() / 100), mutant.file, String(mutant.line), mutant.kind.rawValue,
            mutant.original, mutant.mutated, outcome.test.inOneLine,
        ]
        let handle = try FileHandle(forWritingTo: file)
        defer { try? handle.close() }
        try handle.seekToEnd()
        try handle.write(contentsOf: Data((fields.joined(separator: "\t") + "\n").utf8))
    }
}
