import JunctionSession

/// The token endpoint of the whole fleet: a fixed rate of requests, a short queue, and then immediate rejections.
struct Provider {
    /// The outcome of one request.
    enum Outcome: UInt8 {
        case granted
        /// The provider rejected the request or was unreachable: the daemon knows that nothing was done.
        case refused
        /// No usable answer: the request may have been carried out.
        case unknown
    }

    struct Answer {
        var outcome: Outcome
        /// The `Retry-After` of a 429.
        var retryAfter: Duration?
        var after: Milliseconds
        /// Whether the request reached the provider.
        var hasArrived = true
    }

    /// Requests per second for a fleet of a million: three and a half times the need of such a fleet with tokens of an
    /// hour.
    static let capacity = 1_500.0
    /// A request that would wait longer is rejected at once with a 503, as by a load balancer.
    static let longestQueue: Milliseconds = 5_000
    /// The network latency, both ways, and the work.
    static let latency: ClosedRange<Double> = 50...250
    /// The timeout of a daemon's request.
    static let patience: Milliseconds = 10_000

    /// Milliseconds of work for each request.
    private let work: Double
    /// The size of the fleet as a share of a million.
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
            // A token bucket that holds the requests of one second.
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
