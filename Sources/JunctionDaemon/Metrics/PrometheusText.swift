import JunctionServer

/// Writes samples in Prometheus's text format, version 0.0.4.
struct PrometheusText {
    private(set) var text = ""
    private var name = ""
    /// Labels of every sample.
    private let labels: [(name: String, value: String)]

    /// - Parameter labels: labels of every sample.
    init(labels: [(name: String, value: String)] = []) {
        self.labels = labels
    }

    /// Begins a series; the samples that follow belong to it.
    mutating func announce(_ series: Series) {
        name = series.name
        text += "# HELP \(name) \(PrometheusText.escaped(series.help, quotes: false))\n"
        text += "# TYPE \(name) \(series.kind.rawValue)\n"
    }

    /// Adds a series of one sample without labels.
    mutating func add(_ series: Series, _ value: some BinaryInteger) {
        announce(series)
        add(value, [])
    }

    mutating func add(_ value: some BinaryInteger, _ labels: [(name: String, value: String)]) {
        add("", labels, "\(value)")
    }

    private mutating func add(_ ending: String, _ labels: [(name: String, value: String)], _ value: String) {
        text += name + ending
        let labels = labels + self.labels
        if !labels.isEmpty {
            let list = labels.map { "\($0.name)=\"\(PrometheusText.escaped($0.value, quotes: true))\"" }
            text += "{" + list.joined(separator: ",") + "}"
        }
        text += " \(value)\n"
    }

    /// Adds one sample of the series announced last, in thousandths.
    mutating func add(thousandths value: Int64) {
        add("", [], Self.decimal(thousandths: value))
    }

    /// Adds the samples of a histogram, whose unit is the second.
    mutating func add(_ series: Series, _ histogram: DurationHistogram) {
        announce(series)
        let cumulative = histogram.cumulative
        for (bound, count) in zip(DurationHistogram.bounds, cumulative) {
            add("_bucket", [("le", Self.decimal(thousandths: bound))], "\(count)")
        }
        let total = cumulative.last ?? 0
        add("_bucket", [("le", "+Inf")], "\(total)")
        add("_sum", [], Self.decimal(thousandths: histogram.sum))
        add("_count", [], "\(total)")
    }

    /// Returns a decimal number without trailing zeros, such as `-1.25`.
    static func decimal(thousandths value: Int64) -> String {
        let (whole, rest) = value.magnitude.quotientAndRemainder(dividingBy: 1_000)
        var fraction = String(1_000 + rest).dropFirst()
        while fraction.last == "0" { fraction.removeLast() }
        return (value < 0 ? "-" : "") + "\(whole)" + (fraction.isEmpty ? "" : ".\(fraction)")
    }

    private static func escaped(_ text: String, quotes: Bool) -> String {
        var escaped = ""
        for character in text.unicodeScalars {
            switch character {
            case "\\": escaped += "\\\\"
            case "\n": escaped += "\\n"
            case "\"" where quotes: escaped += "\\\""
            default: escaped.unicodeScalars.append(character)
            }
        }
        return escaped
    }
}
