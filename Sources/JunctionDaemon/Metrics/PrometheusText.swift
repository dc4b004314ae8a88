/// Writes samples in Prometheus's text format, version 0.0.4.
struct PrometheusText {
    private(set) var text = ""
    private var name = ""

    /// Begins a series; the samples that follow belong to it.
    mutating func announce(_ series: Series) {
        name = series.name
        text += "# HELP \(name) \(PrometheusText.escaped(series.help, quotes: false))\n"
        text += "# TYPE \(name) \(series.kind.rawValue)\n"
    }

    /// A series of one sample without labels.
    mutating func add(_ series: Series, _ value: some BinaryInteger) {
        announce(series)
        add(value, [])
    }

    /// One sample of the series announced last.
    mutating func add(_ value: some BinaryInteger, _ labels: [(name: String, value: String)]) {
        text += name
        if !labels.isEmpty {
            let list = labels.map { "\($0.name)=\"\(PrometheusText.escaped($0.value, quotes: true))\"" }
            text += "{" + list.joined(separator: ",") + "}"
        }
        text += " \(value)\n"
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
