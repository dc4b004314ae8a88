import JunctionSession

/// The one token endpoint of the whole fleet: so many requests a second, a short queue, and then a quick no.
struct Provider {
    /// What became of one request.
    enum Outcome: UInt8 {
        case granted
        /// The provider's own no, or no way to it: whoever asked knows that nothing was done.
        case refused
        /// It may have been done: there is no usable answer.
        case unknown
    }

    struct Answer {
        var outcome: Outcome
        /// What a 429 asks for.
        var retryAfter: Duration?
        var after: Milliseconds
        /// It came as far as the provider.
        var hasArrived = true
    }

    /// Requests a second for a fleet of a million: three and a half times what such a fleet needs with tokens of an hour.
    static let capacity = 1_500.0
    /// Whoever would have to wait longer is sent away at once with a 503, as a load balancer does.
    static let longestQueue: Milliseconds = 5_000
    /// The way there and back, and the work.
    static let latency: ClosedRange<Double> = 50...250
    /// A daemon waits no longer than this for an answer.
    static let patience: Milliseconds = 10_000

    /// Milliseconds of work for each request.
    private let work: Double
    /// How much of a million the fleet is.
    private let scale: Double
    private var freeAt = 0.0
    private var allowedAt = 0.0

    init(daemons: Int) {
        scale = Double(daemons) / 1_000_000
        work = 1_000 / (Self.capacity * scale)
    }

    mutating func answer(
        from daemon: Int,
        at time: Milliseconds,
        in weather: Spell.Kind?,
        using random: inout Randomness
    ) -> Answer {
        let latency = Milliseconds(random.uniform(in: Self.latency))
        switch weather {
        case .down(let isAmbiguous):
            return Answer(outcome: isAmbiguous ? .unknown : .refused, after: latency)
        case .cutOff(let share) where Scenario.isIn(share, daemon):
            return Answer(outcome: .refused, after: latency, hasArrived: false)
        case .limited(let perSecond, let retryAfter):
            // A bucket that holds the requests of one second.
            allowedAt = max(allowedAt, Double(time))
            guard allowedAt - Double(time) <= 1_000 else {
                return Answer(outcome: .refused, retryAfter: retryAfter, after: latency)
            }
            allowedAt += 1_000 / (perSecond * scale)
        case .cutOff, nil:
            break
        }
        let begins = max(freeAt, Double(time))
        let wait = Milliseconds(begins - Double(time))
        guard wait <= Self.longestQueue else { return Answer(outcome: .refused, after: latency) }
        freeAt = begins + work
        return Answer(outcome: .granted, after: wait + latency)
    }
}
