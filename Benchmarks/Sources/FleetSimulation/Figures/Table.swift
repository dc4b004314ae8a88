/// The figures of one scenario as a Markdown table with aligned columns.
package struct Table {
    private var rows = [
        ["", "peak/s", "mean/s", "requests", "wasted", "hours without a token", "… after it", "longest", "recovered"]
    ]

    package init() {}

    package mutating func add(_ name: String, _ figures: Figures) {
        rows.append(
            [
                name, grouped(figures.peak), grouped(figures.mean), grouped(figures.total), grouped(figures.wasted),
                short(figures.tokenlessHours), short(figures.tokenlessHoursAfter), span(figures.longest),
                figures.recovery.map(span) ?? "–",
            ]
        )
    }

    package var text: String {
        let widths = rows[0].indices.map { column in rows.map { $0[column].count }.max() ?? 0 }
        var lines = rows.map { row in
            let cells = row.indices.map { column in
                let padding = String(repeating: " ", count: widths[column] - row[column].count)
                return column == 0 ? row[column] + padding : padding + row[column]
            }
            return "| " + cells.joined(separator: " | ") + " |"
        }
        let ruler = widths.indices.map { column in
            String(repeating: "-", count: widths[column] + 1) + (column == 0 ? "-" : ":")
        }
        lines.insert("|" + ruler.joined(separator: "|") + "|", at: 1)
        return lines.joined(separator: "\n")
    }
}

/// Formats a whole number with commas.
package func grouped(_ value: Double) -> String {
    let digits = Array(String(Int(value.rounded())))
    let groups = stride(from: digits.count, to: 0, by: -3).map { String(digits[max($0 - 3, 0)..<$0]) }
    return groups.reversed().joined(separator: ",")
}

/// Formats a number with one decimal if it is significant.
package func short(_ value: Double) -> String {
    guard value < 100 else { return grouped(value) }
    let tenths = Int((value * 10).rounded())
    return tenths % 10 == 0 ? String(tenths / 10) : "\(tenths / 10).\(tenths % 10)"
}

/// Formats seconds for people.
package func span(_ seconds: Double) -> String {
    let whole = Int(seconds.rounded())
    return whole < 120 ? "\(whole) s" : "\((whole + 30) / 60) min"
}
