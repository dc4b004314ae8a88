import Glibc

/// The result of a run: one table and its notes.
struct Report {
    var rows: [Row] = []
    var notes: [String] = []
    /// Figures that could not be measured.
    var failures: [String] = []
    private let before: Machine

    init(before: Machine) {
        self.before = before
    }

    /// Prints a line that is not part of the table.
    static func tell(_ text: String) {
        let line = Array("bench: \(text)\n".utf8)
        _ = write(STDERR_FILENO, line, line.count)
    }

    func print(isQuick: Bool) {
        Swift.print(
            "\(before.count) × \(before.processor), Linux \(before.kernel), load before \(before.load), after \(Machine().load)\n"
        )
        Swift.print(table)
        var remarks = notes
        if before.isBusy {
            remarks.append("the machine was not idle: judge by the ratio to the C server, or use --realtime")
        }
        if isQuick { remarks.append("--quick: a trial with few repetitions, not a measurement") }
        for remark in remarks { Swift.print("- \(remark)") }
        for failure in failures { Swift.print("- FAILED \(failure)") }
    }

    /// The table in Markdown with aligned columns.
    private var table: String {
        let head = ["figure", "junctiond", "C server", "peers", "target", "verdict"]
        let cells =
            [head] + rows.map { [$0.figure, $0.junctiond, $0.bareServer, $0.peers, $0.target, $0.verdict.rawValue] }
        let widths = head.indices.map { column in cells.map { $0[column].count }.max()! }
        var lines = cells.map { row in
            "| " + zip(row, widths).map { $0 + String(repeating: " ", count: $1 - $0.count) }.joined(separator: " | ")
                + " |"
        }
        lines.insert("|" + widths.map { String(repeating: "-", count: $0 + 2) }.joined(separator: "|") + "|", at: 1)
        return lines.joined(separator: "\n") + "\n"
    }
}
