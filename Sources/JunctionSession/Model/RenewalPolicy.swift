/// Every number of the renewal scheduler, each with its reason.
package enum RenewalPolicy {
    /// The share of a token's life after which it is renewed, drawn once per token: uniform, so that a fleet that was
    /// switched on together drifts apart, and early enough that an outage of minutes goes unnoticed.
    package static let share: ClosedRange<Double> = 0.5...0.8

    /// The longest validity that may be asked for, as a share of the token's life: more could never be satisfied
    /// for long.
    package static let largestValidity = 0.8

    /// Full-jitter exponential backoff: the first delay is drawn below this…
    package static let firstBackoff: Duration = .seconds(2)
    /// …and no delay above this.
    package static let longestBackoff: Duration = .seconds(600)
    /// While the token lives, no delay that could reach beyond its end, but for those that are drawn below this: a fleet
    /// whose provider was away for ten minutes has its tokens again before they die (docs/fleet.md).
    package static let backoffBeforeEnd: Duration = .seconds(60)
    /// No delay below this, so that an unlucky draw is not a hot loop.
    package static let shortestBackoff: Duration = .milliseconds(100)

    /// How often a caller with a dead token, a resume from suspend or `session.renew` may cause an attempt, and how young a
    /// token is too young to be replaced because a caller wants a longer one.
    package static let attemptSpacing: Duration = .seconds(10)

    /// A network that comes back hurries a waiting retry, spread over this share of the time that tries have failed: it comes
    /// back for a whole region at once, and who waits there has become more for as long as it was away (docs/fleet.md)…
    package static let hurryShare = 0.1
    /// …so that a short outage ends within seconds, and a long one sooner than by the backoff alone.
    package static let hurrySpread: ClosedRange<Duration> = .seconds(10)...(.seconds(300))

    /// After an ambiguous outcome the same refresh token is sent again this soon, inside the shortest reuse grace that
    /// providers are known to give…
    package static let firstRefreshRetry: ClosedRange<Duration> = .milliseconds(200)...(.seconds(2))
    /// …and once more this long after the first request was sent: late enough that an outage of seconds is over, and
    /// early enough…
    package static let secondRefreshRetry: ClosedRange<Duration> = .seconds(16)...(.seconds(20))
    /// …that it leaves before this, and arrives within 25 s: the commonest grace is 30 s.
    package static let latestRefreshRetry: Duration = .seconds(24)
    /// A replay that begins inside the grace has to leave before this, too: a slow name server or connection would take it out
    /// of the grace, and then the provider would take it for a thief's.
    package static let latestSend: Duration = .milliseconds(24_500)
    /// No more refresh retries than these…
    package static let mostRefreshRetries = 6
    /// …in this time: past that the backoff alone decides, so that a provider that fails for ever is not hammered.
    package static let refreshRetryPeriod: Duration = .seconds(600)

    /// A provider's `Retry-After` is believed within these bounds.
    package static let believableRetryAfter: ClosedRange<Duration> = .seconds(1)...(.seconds(3_600))
    /// Spread over a provider's `Retry-After`, so that a fleet does not come back in one second; never beyond the hour.
    package static let retryAfterSpread = 0.1

    /// After no handler could help, none is asked for at least this long (the vendor's rule)…
    package static let shortestPostponement: Duration = .seconds(600)
    /// …and a little more, so that a fleet does not ask its servers in one second.
    package static let postponementSpread: ClosedRange<Duration> = .zero...(.seconds(60))

    /// Answers of handlers that the provider may refuse in one round. Each costs a call.
    package static let mostRefusedAnswers = 8

    /// A round of questions takes no longer than this, however many local users have silent handlers.
    package static let longestRound: Duration = .seconds(120)

    /// A provider that refuses a dead session without a reason is believed after this many attempts…
    package static let believedRefusals = 3
    /// …when the last one is this long after the first: longer than a load balancer takes to find its servers again.
    package static let believedRefusalSpan: Duration = .seconds(600)
    /// Such a session is still tried this often: the provider has never said that the session is over.
    package static let refusedRetry: Duration = .seconds(3_600)

    /// A token that is dead on arrival is not followed by the next request before this.
    package static let shortestLife: Duration = .seconds(1)

    /// Sign-outs that the provider has not heard of, at the most: each keeps a secret in memory, and more users than
    /// these do not take turns on one device within a day.
    package static let mostRevocations = 8
    /// Attempts to revoke one session: about a day at the longest backoff.
    package static let mostRevocationAttempts = 300
    /// For how long the revocation of a session without an end is tried.
    package static let longestRevocation: Duration = .seconds(86_400)

    /// A session that the provider may forget is checked this often, which is no sooner than any `Retry-After` wants: a fleet causes few
    /// requests…
    package static let checkPause: ClosedRange<Duration> = .seconds(3_600)...(.seconds(4_200))
    /// …and soon after a start, spread so that a fleet that is switched on together does not ask in one second.
    package static let checkAfterStart: ClosedRange<Duration> = .seconds(1)...(.seconds(60))

    /// A write that failed is tried again after this, doubled each time…
    package static let firstRewrite: Duration = .seconds(1)
    /// …up to this.
    package static let longestRewrite: Duration = .seconds(60)

    /// The alarm is never set further ahead than this.
    package static let longestSleep: Duration = .seconds(30 * 86_400)

    /// A wall clock this far behind the record's own write time is still believed: time servers slew.
    package static let clockTolerance: Duration = .seconds(1)

    /// When a token is to be renewed; drawn once and stored with it.
    static func renewalTime(of token: TokenFacts, using random: inout Randomness) -> WallTime {
        token.issuedAt + token.life * random.uniform(in: share)
    }

    /// How long to wait after the given number of failures in a row.
    ///
    /// - Parameter left: what is left of the token's life, if it lives.
    static func backoff(
        afterFailures failures: Int,
        left: Duration? = nil,
        using random: inout Randomness
    ) -> Duration {
        let doublings = min(max(failures, 1) - 1, 20)
        let longest = left.map { min(longestBackoff, max($0, backoffBeforeEnd)) } ?? longestBackoff
        let ceiling = min(longest, firstBackoff * (1 << doublings))
        return max(shortestBackoff, ceiling * random.uniform(in: 0...1))
    }

    /// How long to wait when the provider itself said how long.
    static func delay(afterBeingAsked asked: Duration, using random: inout Randomness) -> Duration {
        let believed = min(max(asked, believableRetryAfter.lowerBound), believableRetryAfter.upperBound)
        let spread = believed * random.uniform(in: 1...(1 + retryAfterSpread))
        return min(spread, believableRetryAfter.upperBound)
    }

    /// What the try that a network hurries is drawn from, behind the first moment at which it may be made.
    static func hurrySpread(afterFailingSince begin: Uptime?, _ now: Uptime) -> ClosedRange<Duration> {
        let share = (begin.map { now - $0 } ?? .zero) * hurryShare
        return .zero...min(max(share, hurrySpread.lowerBound), hurrySpread.upperBound)
    }

    /// How long the handlers together may take in a round for a renewal: half of what is left of the token's life, so that
    /// there is time for the provider's answer. A token that is dead or nearly so still leaves one handler its time.
    static func roundLimit(left: Duration, handlerTimeout: Duration) -> Duration {
        min(longestRound, max(left / 2, handlerTimeout))
    }

    /// A write that has not ended after this counts as refused for every caller that waits.
    static let longestWrite: Duration = .seconds(10)

    /// How long to wait before a failed write is tried again.
    static func rewriteDelay(afterFailures failures: Int) -> Duration {
        min(longestRewrite, firstRewrite * (1 << min(max(failures, 1) - 1, 10)))
    }
}

/// The machine's only source of chance: seeded from outside, so that a history can be run again (SplitMix64).
package struct Randomness: RandomNumberGenerator, Hashable, Sendable {
    private var state: UInt64

    package init(seed: UInt64) {
        state = seed
    }

    package mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }

    package mutating func uniform(in range: ClosedRange<Double>) -> Double {
        let unit = Double(next() >> 11) / Double(1 << 53)
        return range.lowerBound + (range.upperBound - range.lowerBound) * unit
    }

    package mutating func uniform(in range: ClosedRange<Duration>) -> Duration {
        let width = (range.upperBound - range.lowerBound).wholeMilliseconds
        return range.lowerBound + .milliseconds(Int64(Double(width) * uniform(in: 0...1)))
    }
}
