/// A sign-in that a person approves on another screen (RFC 8628): when the provider is polled, and what it ends by.
///
/// | state | leaves it by | to |
/// |---|---|---|
/// | none | the provider has given codes; a record has some | waits |
/// | waits | its pause is over, and no other exchange is under way | is polled |
/// | is polled | nobody has decided; too fast; no usable answer | waits |
/// | is polled | a grant, a denial | none |
/// | waits | its codes have expired, somebody has signed in otherwise, or a sign-out | none |
///
/// The codes that a start finds are polled with until the provider answers, for as long as they had to live when they were
/// written, whatever the clock says of them: an approval that the last process did not live to hear of is not lost.
struct Approval: Hashable, Sendable {
    private var flow: Flow?
    /// Why the last one came to nothing, or its last poll to no answer; for as long as nobody has begun another.
    private(set) var lastError: String?

    private struct Flow: Hashable, Sendable {
        var stored: StoredApproval
        var codes: SecretRef
        var endsAt: Uptime
        /// The pause between two polls; it grows when the provider says so, and never shrinks.
        var interval: Duration { didSet { retry.spacing = pause } }
        /// When the provider is asked next; it is being asked while there is no such time.
        var retry = Retry()
        /// It was found at start: the process before this one may have polled it, and not have lived to hear the answer.
        var isResumed = false
        /// A poll has left whose answer never came.
        var isAnswerLost = false
        /// Somebody has approved it: what is asked now is who.
        var isGranted = false

        var isPolling: Bool { retry.time == nil }

        /// A poll leaves a little later than the interval: clocks of devices run fast, and a strict server starts over.
        var pause: Duration { interval * 6 / 5 }

        /// However long the pause is: the provider is asked once more while its codes live, if the interval allows that.
        func pause(of delay: Duration, _ now: Moment) -> Duration {
            min(delay, max(endsAt + (.zero - Approval.lastPoll) - now.uptime, interval))
        }
    }

    /// RFC 8628 §3.5: what a `slow_down` adds, for good.
    static let slowDown: Duration = .seconds(5)
    /// Pauses that are believed.
    static let believableIntervals: ClosedRange<Duration> = .seconds(1)...(.seconds(600))
    /// After failures the pause doubles up to this: whoever has approved waits in front of the device.
    static let longestBackoff: Duration = .seconds(60)
    /// Identify calls that may wait for the end of one.
    static let mostCallers = 256
    /// The last poll leaves this long before the codes end, at the latest: a person may have approved in time.
    static let lastPoll: Duration = .seconds(10)

    // MARK: Beginning and ending

    /// The provider has given codes.
    mutating func begin(
        _ begun: ApprovalBegun,
        for externalUserId: ExternalUserId?,
        wanting wanted: Identity?,
        _ now: Moment
    ) {
        let interval = begun.interval.clamped(to: Self.believableIntervals)
        let endsAt = begun.life.end ?? now.uptime
        var flow = Flow(
            stored: StoredApproval(
                expiresAt: now.wall(at: endsAt),
                interval: interval,
                externalUserId: externalUserId,
                wanted: wanted
            ),
            codes: begun.codes,
            endsAt: endsAt,
            interval: interval
        )
        flow.retry.spacing = flow.pause
        flow.retry.wait(for: flow.pause, now)
        self.flow = flow
        lastError = nil
    }

    /// A record has one.
    mutating func resume(_ stored: StoredApproval, _ codes: SecretRef, writtenAt: WallTime, _ now: Moment) {
        // Where the clock says that they have ended, the provider is asked.
        let life = stored.expiresAt.left(writtenAt: writtenAt, now)
        var flow = Flow(
            stored: stored,
            codes: codes,
            endsAt: now.uptime + life,
            interval: stored.interval.clamped(to: Self.believableIntervals),
            isResumed: true
        )
        if stored.expiresAt <= now.wall { flow.stored.expiresAt = now.wall(at: flow.endsAt) }
        flow.retry = stored.notBefore.flatMap { Retry(demandedUntil: $0, now) } ?? Retry(now)
        flow.retry.spacing = flow.pause
        self.flow = flow
    }

    /// It is over.
    mutating func end(because reason: String? = nil) {
        flow = nil
        lastError = reason
    }

    /// Somebody has approved it, and what was granted is kept until then: the provider has yet to say who.
    mutating func isGranted(until end: Uptime, _ now: Moment) {
        guard var flow else { return }
        (flow.isGranted, flow.endsAt) = (true, end)
        flow.stored.expiresAt = now.wall(at: end)
        self.flow = flow
    }

    // MARK: Polling

    /// The provider is asked now.
    mutating func poll(_ now: Moment) -> (codes: SecretRef, stored: StoredApproval)? {
        guard let flow, !flow.isPolling else { return nil }
        self.flow?.retry.begin(now)
        return (flow.codes, flow.stored)
    }

    /// Nobody has decided yet.
    mutating func isUndecided(tooFast: Bool, _ now: Moment) {
        guard var flow else { return }
        if tooFast {
            flow.interval += Self.slowDown
            flow.stored.interval = flow.interval
        }
        flow.stored.notBefore = nil
        (flow.isResumed, flow.isAnswerLost) = (false, false)
        flow.retry.wait(for: flow.pause(of: flow.pause, now), now)
        self.flow = flow
        lastError = nil
    }

    /// There was no usable answer.
    mutating func failed(_ failure: Unavailability, _ now: Moment) {
        guard var flow else { return }
        if failure.ambiguous { flow.isAnswerLost = true }
        if let demanded = failure.retryAfter {
            // It is waited for also where the codes end before.
            flow.retry.failed(after: max(demanded, flow.pause), isDemanded: true, now)
        } else {
            let backoff = min(flow.pause * (1 << min(flow.retry.failures, 10)), Self.longestBackoff)
            flow.retry.failed(after: flow.pause(of: max(flow.pause, backoff), now), now)
        }
        flow.stored.notBefore = flow.retry.isDemanded ? flow.retry.time?.wall : nil
        self.flow = flow
        lastError = failure.message
    }

    /// The wall clock was set, or the machine resumed: a person may have approved meanwhile.
    ///
    /// Returns whether what is stored reads otherwise now, and the disk has yet to know.
    mutating func clockJumped(_ now: Moment) -> Bool {
        guard var flow else { return false }
        let before = flow.stored
        flow.stored.expiresAt = now.wall(at: flow.endsAt)
        flow.retry.clockJumped(now)
        flow.stored.notBefore = flow.retry.isDemanded ? flow.retry.time?.wall : nil
        self.flow = flow
        return flow.stored != before
    }

    /// The network may have come back.
    mutating func hurry(_ now: Moment, using random: inout Randomness) { flow?.retry.hurry(now, using: &random) }

    /// Somebody is signed in: what came of an earlier one is of no interest any more.
    mutating func forgetError() { lastError = nil }

    // MARK: What can be seen

    var isRunning: Bool { flow != nil }

    /// Why nobody can know what became of it, where an answer may have been missed.
    var interruption: Refusal? {
        if flow?.isGranted == true { return .approvalUnidentified }
        guard let flow, flow.isResumed || flow.isAnswerLost else { return nil }
        return .approvalInterrupted(byRestart: flow.isResumed)
    }

    var stored: StoredApproval? { flow?.stored }

    var codes: SecretRef? { flow?.codes }

    /// Whether its codes have ended, and nothing is to be heard of them any more.
    func hasExpired(_ now: Moment) -> Bool {
        guard let flow, !flow.isPolling, flow.endsAt <= now.uptime else { return false }
        return !(flow.isResumed && flow.retry.lastTried == nil)
    }

    /// When something is due by itself: a poll, or its end.
    var dueAt: Uptime? {
        guard let flow, let time = flow.retry.time?.uptime else { return nil }
        return flow.isResumed && flow.retry.lastTried == nil ? time : min(time, flow.endsAt)
    }
}

extension Duration {
    fileprivate func clamped(to bounds: ClosedRange<Duration>) -> Duration {
        min(max(self, bounds.lowerBound), bounds.upperBound)
    }
}
