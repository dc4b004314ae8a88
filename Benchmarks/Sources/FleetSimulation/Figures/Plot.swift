/// One scenario as an SVG picture: requests per second above, daemons without a token below, one line for each rule,
/// both on a logarithmic scale. It follows the light or dark mode of the page.
package struct Plot {
    private let title: String
    private let seconds: Int
    private var lines: [(name: String, figures: Figures)] = []

    private static let width = 760.0
    private static let left = 58.0
    private static let right = 12.0
    private static let panelHeight = 170.0
    private static let tops = [64.0, 278.0]
    /// Points per line: more would not be visible.
    private static let resolution = 240

    package init(of scenario: Scenario) {
        title = scenario.title
        seconds = Int(scenario.length / 1_000)
    }

    package mutating func add(_ name: String, _ figures: Figures) {
        lines.append((name, figures))
    }

    package var svg: String {
        """
        <svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 760 480" role="img" aria-label="\(title)" \
        font-family="system-ui, sans-serif" font-size="12">
        <style>
        text { fill: #1f2328 } .g { stroke: #d0d7de } .a { stroke: #0969da } .b { stroke: #bc4c00 }
        .c { stroke: #1a7f37 } .d { stroke: #8250df } .e { stroke: #cf222e }
        @media (prefers-color-scheme: dark) {
        text { fill: #e6edf3 } .g { stroke: #3d444d } .a { stroke: #58a6ff } .b { stroke: #f0883e }
        .c { stroke: #3fb950 } .d { stroke: #bc8cff } .e { stroke: #ff7b72 }
        }
        polyline { fill: none; stroke-width: 1.6; stroke-linejoin: round }
        .k { stroke-width: 3 } .m { text-anchor: middle } .r { text-anchor: end } .t { font-size: 14px; font-weight: 600 }
        </style>
        <text class="t" x="12" y="20">\(title)</text>
        \(legend)
        \(panel(0, "requests a second", from: 1, to: 6) { $0.requests })
        \(panel(1, "daemons without a token", from: 0, to: 6) { $0.tokenless })
        </svg>

        """
    }

    /// The colour of a line, as a class of the style sheet.
    private static func colour(_ index: Int) -> String { ["a", "b", "c", "d", "e"][index % 5] }

    private var legend: String {
        var x = 12
        return lines.indices.map { index in
            defer { x += 44 + 7 * lines[index].name.count }
            return """
                <path class="k \(Self.colour(index))" d="M\(x) 37h18"/>\
                <text x="\(x + 24)" y="41">\(lines[index].name)</text>
                """
        }.joined(separator: "\n")
    }

    /// - Parameters:
    ///   - low: the power of ten at the bottom.
    ///   - high: the power of ten at the top.
    private func panel(
        _ index: Int,
        _ caption: String,
        from low: Int,
        to high: Int,
        _ values: (Figures) -> [Double]
    ) -> String {
        let (top, bottom) = (Self.tops[index], Self.tops[index] + Self.panelHeight)
        func y(_ power: Double) -> Double {
            bottom - (power - Double(low)) / Double(high - low) * Self.panelHeight
        }
        var parts = ["<text x=\"12\" y=\"\(number(top - 6))\">\(caption)</text>"]
        for power in low...high {
            let height = number(y(Double(power)))
            parts.append("<path class=\"g\" d=\"M\(number(Self.left)) \(height)H\(number(Self.width - Self.right))\"/>")
            let label = ["1", "10", "100", "1 k", "10 k", "100 k", "1 M"][power]
            parts.append(
                "<text class=\"r\" x=\"\(number(Self.left - 6))\" y=\"\(number(y(Double(power)) + 4))\">\(label)</text>"
            )
        }
        for minutes in stride(from: 0, through: seconds / 60, by: step) {
            let label = minutes == 0 ? "0 min" : "\(minutes)"
            parts.append(
                "<text class=\"m\" x=\"\(number(x(minutes * 60)))\" y=\"\(number(bottom + 16))\">\(label)</text>"
            )
        }
        for (order, line) in lines.enumerated().reversed() {
            let points = thinned(values(line.figures)).map { second, value in
                number(x(second)) + "," + number(y(min(max(decimalLogarithm(value), Double(low)), Double(high))))
            }
            parts.append("<polyline class=\"\(Self.colour(order))\" points=\"\(points.joined(separator: " "))\"/>")
        }
        return parts.joined(separator: "\n")
    }

    /// Minutes between two labels.
    private var step: Int {
        [5, 10, 15, 30, 60].first { seconds / 60 / $0 <= 12 } ?? 120
    }

    private func x(_ second: Int) -> Double {
        Self.left + Double(second) / Double(seconds) * (Self.width - Self.left - Self.right)
    }

    /// Takes the maximum of each interval, so that a peak is not lost.
    private func thinned(_ values: [Double]) -> [(Int, Double)] {
        let stretch = max(1, values.count / Self.resolution)
        return stride(from: 0, to: values.count, by: stretch).map { begin in
            (begin, values[begin..<min(begin + stretch, values.count)].max() ?? 0)
        }
    }

    private func number(_ value: Double) -> String {
        let tenths = Int((value * 10).rounded())
        return tenths % 10 == 0 ? String(tenths / 10) : "\(tenths / 10).\(tenths % 10)"
    }
}
