/// The counters of a running scenario.
struct Tally {
    private let scenario: Scenario
    private let daemons: Int
    private var requests: [UInt32]
    private var wasted = 0
    /// Daemons without a token at the end of each second.
    private var tokenless: [UInt32]
    private var tokenlessNow: UInt32 = 0
    private var second = 0
    private var tokenlessTime: Milliseconds = 0
    private var tokenlessAfter: Milliseconds = 0
    private var longest: Milliseconds = 0

    init(of daemons: Int, in scenario: Scenario) {
        self.daemons = daemons
        self.scenario = scenario
        requests = Array(repeating: 0, count: Int(scenario.length / 1_000))
        tokenless = requests
    }

    /// Advances the time.
    mutating func pass(to time: Milliseconds) {
        while second < Int(time / 1_000) {
            tokenless[second] = tokenlessNow
            second += 1
        }
    }

    /// A request has reached the provider.
    mutating func request(at time: Milliseconds, brings aToken: Bool) {
        requests[Int(time / 1_000)] += 1
        if !aToken { wasted += 1 }
    }

    /// A daemon has no valid token any more.
    mutating func lost(at time: Milliseconds) {
        tokenlessNow += 1
    }

    /// A daemon without a token has one again, or is switched off.
    mutating func tokenless(from begin: Milliseconds, to end: Milliseconds) {
        tokenlessNow -= 1
        add(begin, end)
    }

    /// A daemon has no token at the end.
    mutating func tokenless(from begin: Milliseconds) {
        add(begin, scenario.length)
    }

    private mutating func add(_ begin: Milliseconds, _ end: Milliseconds) {
        tokenlessTime += end - begin
        longest = max(longest, end - begin)
        if let over = scenario.troubleEnds { tokenlessAfter += max(end - max(begin, over), 0) }
    }

    mutating func figures() -> Figures {
        pass(to: scenario.length)
        return Figures(
            scenario: scenario,
            daemons: daemons,
            requests: requests,
            tokenless: tokenless,
            wasted: wasted,
            tokenlessTime: tokenlessTime,
            tokenlessAfter: tokenlessAfter,
            longest: longest
        )
    }
}
