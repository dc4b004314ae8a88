/// The numbers of the renewal scheduler, each with its reason.
package enum RenewalPolicy {
    /// The share of a token's lifetime after which the daemon renews it. It is drawn once per token. The uniform spread
    /// separates a fleet that was switched on together. Renewing this early hides an outage of minutes.
    package static let share: ClosedRange<Double> = 0.5...0.8

    /// The longest validity that a caller may request, as a share of the token's lifetime. The daemon could satisfy a
    /// larger request only for a short time.
    package static let largestValidity = 0.8

    /// The upper bound of the first delay of a full-jitter exponential backoff.
    package static let firstBackoff: Duration = .seconds(2)
    /// The upper bound of every backoff delay.
    package static let longestBackoff: Duration = .seconds(600)
    /// While the token lives, the longest backoff delay is the rest of its lifetime, but at least this value. After
    /// an outage of ten minutes, a fleet then renews its tokens before they expire (docs/fleet.md).
    package static let backoffBeforeEnd: Duration = .seconds(60)
    /// The lower bound of every delay, so that an unlucky draw does not cause a busy loop.
    package static let shortestBackoff: Duration = .milliseconds(100)

    /// The shortest time between two attempts that are caused by a caller with an expired token, a resume from suspend,
    /// or `session.renew` after a failure. A younger token is not replaced for a caller that wants a longer validity.
    package static let attemptSpacing: Duration = .seconds(10)

    /// When the network returns, waiting retries are spread over this share of the time for which attempts have failed.
    /// The network returns for a whole region at once, and a longer outage leaves more daemons waiting (docs/fleet.md).
    package static let networkReturnShare = 0.1
    /// The bounds of that spread: a short outage ends within seconds, and a long one sooner than by the backoff alone.
    package static let networkReturnSpread: ClosedRange<Duration> = .seconds(10)...(.seconds(300))

    /// The delay of the refresh retry after each ambiguous outcome. It lies inside the shortest known reuse grace
    /// of providers.
    package static let promptRefreshRetry: ClosedRange<Duration> = .milliseconds(200)...(.seconds(2))
    /// The delay of the late refresh retry, which follows an outcome that is not ambiguous, measured from the first
    /// request. An outage of seconds is over by then, and the request still meets `latestRefreshRetry`.
    package static let lateRefreshRetry: ClosedRange<Duration> = .seconds(16)...(.seconds(20))
    /// The latest begin of a refresh retry after the first request, so that it arrives within 25 s. The commonest grace
    /// is 30 s.
    package static let latestRefreshRetry: Duration = .seconds(24)
    /// The send deadline of a refresh retry after the first request. A slow name server or connection could delay the
    /// request beyond the grace, and the provider would then treat it as the replay of a stolen token.
    package static let latestSend: Duration = .milliseconds(24_500)
    /// The largest number of refresh retries in `refreshRetryPeriod`.
    package static let mostRefreshRetries = 6
    /// The period for `mostRefreshRetries`. After that only the backoff applies, which protects a provider that fails
    /// for a long time.
    package static let refreshRetryPeriod: Duration = .seconds(600)

    /// The accepted range of a provider's `Retry-After`. Other values are clamped to it.
    package static let acceptedRetryAfter: ClosedRange<Duration> = .seconds(1)...(.seconds(3_600))
    /// The share by which a provider's `Retry-After` is lengthened at random, so that a fleet does not return in one
    /// second. The result never exceeds one hour.
    package static let retryAfterSpread = 0.1

    /// The shortest time in which no handler is asked after none could help (the provider's rule).
    package static let shortestPostponement: Duration = .seconds(600)
    /// The random addition to a postponement, so that a fleet does not ask its servers in one second.
    package static let postponementSpread: ClosedRange<Duration> = .zero...(.seconds(60))

    /// The number of handlers' answers that the provider may refuse in one round. Each costs a call.
    package static let mostRefusedAnswers = 8

    /// The longest round of questions, however many local users have silent handlers.
    package static let longestRound: Duration = .seconds(120)

    /// The number of refusals without a reason after which the daemon requires reauthentication. All concern an expired
    /// token.
    package static let refusalsUntilReauthentication = 3
    /// The shortest time from the first to the last of these refusals. A load balancer finds its servers again sooner.
    package static let refusalSpanUntilReauthentication: Duration = .seconds(600)
    /// The pause between attempts for such a session. The provider has never said that the session is over.
    package static let refusedRetry: Duration = .seconds(3_600)

    /// The shortest time before the next request if a token has expired on arrival.
    package static let shortestLife: Duration = .seconds(1)

    /// The largest number of pending revocations. Each keeps a secret in memory. More users than this do not alternate
    /// on one device within a day.
    package static let mostRevocations = 8
    /// The number of attempts to revoke one session: about a day at the longest backoff.
    package static let mostRevocationAttempts = 300
    /// The time for which the daemon tries to revoke a session without an end.
    package static let longestRevocation: Duration = .seconds(86_400)

    /// The pause between two checks of a session that the provider may forget. It is not shorter than any accepted
    /// `Retry-After`, and a fleet causes few requests.
    package static let checkPause: ClosedRange<Duration> = .seconds(3_600)...(.seconds(4_200))
    /// The delay of the first check after a start, spread so that a fleet that is switched on together does not ask in
    /// one second.
    package static let checkAfterStart: ClosedRange<Duration> = .seconds(1)...(.seconds(60))

    /// The pause after the first failed write. It doubles with each further failure.
    package static let firstRewrite: Duration = .seconds(1)
    /// The longest pause after a failed write.
    package static let longestRewrite: Duration = .seconds(60)

    /// The longest time for which the alarm is set.
    package static let longestSleep: Duration = .seconds(30 * 86_400)

    /// The wall clock is trusted if it is at most this far behind the record's own write time, because time servers
    /// slew it.
    package static let clockTolerance: Duration = .seconds(1)

    /// Returns the renewal time of a token. It is drawn once and stored with the token.
    static func renewalTime(of token: TokenFacts, using random: inout Randomness) -> WallTime {
        token.issuedAt + token.life * random.uniform(in: share)
    }

    /// Returns the pause after the given number of consecutive failures.
    ///
    /// - Parameter left: the rest of the token's lifetime, if it has not expired.
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

    /// Returns the end of a demanded pause that a record has, at most as long as the longest accepted `Retry-After`. `nil`
    /// if the pause is over.
    static func endOfDemandedPause(_ end: WallTime, _ reading: Moment) -> Uptime? {
        guard end > reading.wall else { return nil }
        return reading.uptime + min(end - reading.wall, acceptedRetryAfter.upperBound)
    }

    static func delay(afterBeingAsked asked: Duration, using random: inout Randomness) -> Duration {
        let believed = min(max(asked, acceptedRetryAfter.lowerBound), acceptedRetryAfter.upperBound)
        let spread = believed * random.uniform(in: 1...(1 + retryAfterSpread))
        return min(spread, acceptedRetryAfter.upperBound)
    }

    /// Returns the range from which the delay of a retry is drawn when the network returns. It begins at the earliest
    /// permitted time.
    static func networkReturnSpread(afterFailingSince begin: Uptime?, _ now: Uptime) -> ClosedRange<Duration> {
        let share = (begin.map { now - $0 } ?? .zero) * networkReturnShare
        return .zero...min(max(share, networkReturnSpread.lowerBound), networkReturnSpread.upperBound)
    }

    /// Returns the time limit of a round for a renewal, which its users share: half of the token's remaining lifetime. The
    /// other half is for the provider's answer. The limit is at least the timeout of one handler, and at most
    /// `longestRound`.
    static func roundLimit(left: Duration, handlerTimeout: Duration) -> Duration {
        min(longestRound, max(left / 2, handlerTimeout))
    }

    /// The time after which a write that has not ended counts as refused for every caller that waits.
    package static let longestWrite: Duration = .seconds(10)

    static func rewriteDelay(afterFailures failures: Int) -> Duration {
        min(longestRewrite, firstRewrite * (1 << min(max(failures, 1) - 1, 10)))
    }
}
