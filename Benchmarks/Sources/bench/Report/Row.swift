import Foundation

/// One row of the table: a figure, the result of each side, and whether it is within its limit.
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

    /// Records the results, and whether all of them are within their limits.
    mutating func judge(_ conditions: Bool...) {
        verdict = conditions.allSatisfy(\.self) ? .met : .missed
    }
}

extension Double {
    /// Formats a number with three significant digits: 9.08, 13.6, 229, 12,300.
    var text: String {
        guard isFinite else { return "–" }
        if self >= 100 { return Int(rounded()).text }
        return String(format: self >= 10 ? "%.1f" : "%.2f", self)
    }
}

extension Int {
    /// Formats a whole number with commas.
    var text: String {
        let digits = Array(String(self))
        let groups = stride(from: digits.count, to: 0, by: -3).map { String(digits[Swift.max(0, $0 - 3)..<$0]) }
        return groups.reversed().joined(separator: ",")
    }
}
