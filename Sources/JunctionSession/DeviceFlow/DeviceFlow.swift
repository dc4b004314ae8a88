/// A device sign-in (RFC 8628) that has its codes: a person approves it on another screen, and the daemon polls.
///
/// | state | event | next state |
/// |---|---|---|
/// | waiting | the pause ends, and no other sign-in request is in flight | polling |
/// | polling | *pending*; *slow_down*; no usable answer | waiting |
/// | either | a grant; a denial; the codes expire; another sign-in succeeds; a sign-out; its caller loses the right | over |
///
/// After a restart the daemon polls at least once, even if the wall clock says that the codes have expired. It
/// continues at most for the lifetime that the codes had when the record was written.
struct DeviceFlow: Hashable, Sendable {
    let codes: SecretRef
    /// The app's own name for the wanted user, if `identify` began the sign-in.
    let externalUserId: ExternalUserId?
    /// The only user who may sign in, if one was fixed when the codes were requested.
    let wanted: Identity?
    /// The caller that requested the codes. Records of earlier releases do not have it.
    private let caller: LocalCaller?
    private var interval: Duration
    /// Whether a person has approved, and the provider has not named the user yet.
    private var awaitsUser = false
    /// The time at which the codes expire, or at which the wait for the grant's user ends.
    private(set) var endsAt: Uptime
    /// The time of the next poll. It has no time while a poll is in flight.
    private var retry: Retry
    /// The reason why the daemon may have missed an approval.
    private var doubt: Doubt?
    private(set) var lastError: String?

    enum Doubt: Hashable, Sendable {
        /// The previous process may have ended before it received the answer.
        case restart
        /// The daemon sent a poll and received no answer.
        case lostAnswer
    }

    /// RFC 8628 §3.5: each `slow_down` adds five seconds to this and all later intervals.
    static let slowDown: Duration = .seconds(5)
    /// The accepted range of polling intervals. Other values are clamped to it.
    static let acceptedIntervals: ClosedRange<Duration> = .seconds(1)...(.seconds(600))
    /// The longest pause after failures. The person who has approved is waiting in front of the device.
    static let longestBackoff: Duration = .seconds(60)
    /// The number of identify calls that may wait for the end of one device sign-in.
    static let mostCallers = 256
    /// The last poll leaves at the latest this long before the codes expire. A person may have approved in time.
    static let lastPoll: Duration = .seconds(10)

    // MARK: Beginning

    /// Creates a device sign-in from the codes that the provider has just issued.
    init(
        _ codes: SecretRef,
        endsAt: Uptime,
        interval: Duration,
        externalUserId: ExternalUserId?,
        wanted: Identity?,
        caller: LocalCaller?,
        _ now: Moment
    ) {
        self.codes = codes
        self.endsAt = endsAt
        self.interval = interval.clamped(to: Self.acceptedIntervals)
        (self.externalUserId, self.wanted, self.caller) = (externalUserId, wanted, caller)
        retry = Retry()
        retry.spacing = pause
        // The interval also applies before the first poll. No clock step shortens it.
        retry.begin(now)
        retry.wait(for: pause, now)
    }

    init(resuming stored: StoredDeviceSignIn, _ codes: SecretRef, writtenAt: WallTime, at now: Moment) {
        let reading = now.notBefore(writtenAt)
        self.init(
            codes,
            endsAt: now.uptime + stored.expiresAt.left(writtenAt: writtenAt, reading),
            interval: stored.interval,
            externalUserId: stored.externalUserId,
            wanted: stored.wanted,
            caller: stored.caller,
            now
        )
        let pauseEnd = stored.notBefore.flatMap { RenewalPolicy.endOfDemandedPause($0, reading) }
        // If the wall clock says that the codes have expired, the daemon still polls once.
        retry = pauseEnd.map(Retry.init(demandedUntil:)) ?? Retry(now)
        doubt = .restart
        retry.spacing = pause
    }

    /// The pause between two polls, 20 % longer than the interval. Some devices have fast clocks, and a strict server
    /// restarts the interval after an early poll.
    private var pause: Duration { interval * 6 / 5 }

    /// Shortens a pause so that one more poll fits before the codes expire, if the interval allows it.
    private func pause(of delay: Duration, _ now: Moment) -> Duration {
        min(delay, max(endsAt + (.zero - Self.lastPoll) - now.uptime, interval))
    }

    /// Waits for the user of the grant that an approval has brought.
    mutating func awaitUser(until end: Uptime) {
        (awaitsUser, endsAt) = (true, end)
    }

    /// Returns the device sign-in for a record that is written at this moment.
    func stored(at writing: Moment) -> StoredDeviceSignIn {
        StoredDeviceSignIn(
            expiresAt: writing.wall(at: endsAt),
            interval: interval,
            notBefore: retry.demandedUntil.map(writing.wall(at:)),
            externalUserId: externalUserId,
            wanted: wanted,
            caller: caller
        )
    }

    // MARK: Polling

    mutating func poll(_ now: Moment) -> Bool {
        guard !isPolling else { return false }
        retry.begin(now)
        return true
    }

    mutating func pollUndecided(tooFast: Bool, demanding retryAfter: Duration? = nil, _ now: Moment) {
        if tooFast {
            interval += Self.slowDown
            retry.spacing = pause
        }
        // A `slow_down` does not say whether an earlier, lost answer was a grant.
        if !tooFast { doubt = nil }
        lastError = nil
        let delay = max(pause(of: pause, now), retryAfter ?? .zero)
        retry.wait(for: delay, isDemanded: tooFast || retryAfter != nil, now)
    }

    mutating func pollFailed(_ failure: Unavailability, _ now: Moment) {
        if failure.ambiguous { doubt = doubt ?? .lostAnswer }
        lastError = failure.message
        let backoff = min(pause * (1 << min(retry.failures, 10)), Self.longestBackoff)
        // The daemon respects a demanded pause even if the codes expire before it ends.
        let demanded = failure.retryAfter.map { max($0, pause) }
        retry.failed(after: pause(of: max(pause, backoff), now), demanding: demanded, now)
    }

    mutating func clockJumped(_ now: Moment) {
        retry.clockJumped(now)
    }

    mutating func shortenPause(_ now: Moment, using random: inout Randomness) {
        retry.shortenPause(now, using: &random)
    }

    // MARK: Queries

    private var isPolling: Bool { retry.time == nil }

    /// Whether the provider demands a pause.
    var isPauseDemanded: Bool { retry.demandedUntil != nil }

    /// Whether the provider must be asked before the sign-in may end, because this process has not polled yet.
    private var isUnasked: Bool { doubt == .restart && retry.lastTried == nil }

    /// The error if the outcome is unknown. `nil` if no answer can have been missed.
    var interruption: SessionError? {
        if awaitsUser { return .approvalUnidentified }
        return doubt.map(SessionError.approvalInterrupted)
    }

    /// Returns the error if the provider refuses the sign-in with these words.
    func refusal(saying words: String) -> SessionError {
        // If the user is awaited, the words are about the grant, and no answer was missed.
        (awaitsUser ? nil : interruption) ?? .approvalRefused(words)
    }

    func hasExpired(_ now: Moment) -> Bool { !isPolling && endsAt <= now.uptime && !isUnasked }

    /// The time of the next poll or of the expiry of the codes. `nil` while a poll is in flight.
    var dueAt: Uptime? {
        guard let time = retry.time else { return nil }
        return isUnasked ? time : min(time, endsAt)
    }
}

extension Duration {
    fileprivate func clamped(to bounds: ClosedRange<Duration>) -> Duration {
        min(max(self, bounds.lowerBound), bounds.upperBound)
    }
}
