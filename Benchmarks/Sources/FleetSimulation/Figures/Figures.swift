/// What a scenario came to, for a fleet of a million: what a smaller one did, times what it lacks.
package struct Figures: Equatable, Sendable {
    /// Requests that reached the provider.
    package let total: Double
    package let peak: Double
    package let mean: Double
    /// Requests that brought no token.
    package let wasted: Double
    package let tokenlessHours: Double
    /// … of which the provider was well, and everybody had power.
    package let tokenlessHoursAfter: Double
    /// The longest that one daemon was without, in seconds.
    package let longest: Double
    /// How long after the trouble fewer than one in a thousand was without, in seconds; nothing where there was none.
    package let recovery: Double?
    /// Requests a second, and daemons without a token, second by second.
    package let requests: [Double]
    package let tokenless: [Double]

    init(
        scenario: Scenario,
        daemons: Int,
        requests: [UInt32],
        tokenless: [UInt32],
        wasted: Int,
        tokenlessTime: Milliseconds,
        tokenlessAfter: Milliseconds,
        longest: Milliseconds
    ) {
        let scale = 1_000_000 / Double(daemons)
        let sum = requests.reduce(0) { $0 + Int($1) }
        total = Double(sum) * scale
        mean = Double(sum) * scale / Double(requests.count)
        // As many requests as a million would make in a second are counted together: fewer would only show chance.
        let window = max(1, Int(scale))
        let measured = requests[Int(scenario.measuredFrom / 1_000)...]
        let windows = stride(from: measured.startIndex, to: measured.endIndex, by: window)
        let most = windows.map { measured[$0..<min($0 + window, measured.endIndex)].reduce(0) { $0 + Int($1) } }.max()
        peak = Double(most ?? 0) * scale / Double(window)
        self.wasted = Double(wasted) * scale
        tokenlessHours = Double(tokenlessTime) * scale / 3_600_000
        tokenlessHoursAfter = Double(tokenlessAfter) * scale / 3_600_000
        self.longest = Double(longest) / 1_000
        recovery = scenario.troubleEnds.map { over in
            let last = tokenless.lastIndex { Double($0) * 1_000 >= Double(daemons) }
            return last.map { max(Double($0 + 1) - Double(over) / 1_000, 0) } ?? 0
        }
        self.requests = requests.map { Double($0) * scale }
        self.tokenless = tokenless.map { Double($0) * scale }
    }

    package subscript(figure: Bound.Figure) -> Double {
        switch figure {
        case .peak: peak
        case .tokenless: tokenlessHours
        }
    }
}
