import Foundation

/// One line of the table: a figure, what each side came to, and whether it is good enough.
struct Row {
    enum Verdict: String {
        case met
        case missed
        case notMeasured = "–"
    }

    let figure: String
    let target: String
    var junctiond = "–"
    var bareServer = "–"
    var peers = "–"
    var verdict = Verdict.notMeasured

    init(_ figure: String, target: String) {
        self.figure = figure
        self.target = target
    }

    /// Notes what was measured, and whether all of it holds.
    mutating func judge(_ conditions: Bool...) {
        verdict = conditions.allSatisfy(\.self) ? .met : .missed
    }
}

extension Double {
    /// Three digits that mean something: 9.08, 13.6, 229, 12,300.
    var text: String {
        guard isFinite else { return "–" }
        if self >= 100 { return Int(rounded()).text }
        return String(format: self >= 10 ? "%.1f" : "%.2f", self)
    }
}

extension Int {
    /// With a comma between the thousands.
    var text: String {
        let digits = Array(String(self))
        let groups = stride(from: digits.count, to: 0, by: -3).map { String(digits[Swift.max(0, $0 - 3)..<$0]) }
        return groups.reversed().joined(separator: ",")
    }
}
