/// The results of a scenario, scaled to a fleet of a million.
package struct Figures: Equatable, Sendable {
    /// Requests that reached the provider.
    package let total: Double
    package let peak: Double
    package let mean: Double
    /// Requests without a token as their result.
    package let wasted: Double
    package let tokenlessHours: Double
    /// The part of `tokenlessHours` in which the provider was up and every device had power.
    package let tokenlessHoursAfter: Double
    /// The longest time of one daemon without a token, in seconds.
    package let longest: Double
    /// The time after the disturbance until fewer than one in a thousand was without a token, in seconds; nil without a
    /// disturbance.
    package let recovery: Double?
    /// Requests per second, and daemons without a token, for each second.
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
        // One interval has as many requests as a million daemons would make in a second: fewer would only show noise.
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
