/// A device sign-in (RFC 8628) whose codes are shown: a person approves it on another screen, and the daemon polls.
///
/// | state | leaves it by | to |
/// |---|---|---|
/// | waits | the end of its pause, when no other request of a sign-in is out | is polled |
/// | is polled | *pending*; *slow_down*; no usable answer | waits |
/// | either | a grant; a denial; the end of the codes; another user's sign-in; a sign-out | over |
///
/// After a restart the daemon polls at least once, whatever the clock says. It goes on at most for the life that the codes had
/// when the record was written.
struct DeviceFlow: Hashable, Sendable {
    /// As the record has it. Who is wanted was fixed when the codes were requested.
    private(set) var stored: StoredApproval
    let codes: SecretRef
    /// What an approval has brought, whose user the provider has not named yet.
    private(set) var grant: SecretRef?
    /// When the codes end, or the wait for the user of the grant.
    private var endsAt: Uptime
    /// When the next poll is due; no time while one is out.
    private var retry: Retry
    /// Why an approval may have been missed.
    private var doubt: Doubt?

    enum Doubt: Hashable, Sendable {
        /// The process before this one may have ended before the answer came.
        case restart
        /// A poll has left whose answer never came.
        case lostAnswer
    }

    /// RFC 8628 §3.5: what a `slow_down` adds, for good.
    static let slowDown: Duration = .seconds(5)
    /// Pauses that are believed.
    static let believableIntervals: ClosedRange<Duration> = .seconds(1)...(.seconds(600))
    /// After failures the pause doubles up to this: the person who has approved waits in front of the device.
    static let longestBackoff: Duration = .seconds(60)
    /// Identify calls that may wait for the end of one device sign-in.
    static let mostCallers = 256
    /// The last poll leaves this long before the codes end, at the latest: a person may have approved in time.
    static let lastPoll: Duration = .seconds(10)

    // MARK: Beginning

    /// The provider has given codes.
    init(
        _ begun: ApprovalBegun,
        for externalUserId: ExternalUserId?,
        wanting wanted: Identity?,
        _ now: Moment
    ) {
        codes = begun.codes
        endsAt = begun.life.end ?? now.uptime
        stored = StoredApproval(
            expiresAt: now.wall(at: endsAt),
            interval: begun.interval.clamped(to: Self.believableIntervals),
            externalUserId: externalUserId,
            wanted: wanted,
            caller: begun.caller
        )
        retry = Retry()
        retry.spacing = pause
        // The interval holds before the first poll, too: no clock step shortens it.
        retry.begin(now)
        retry.wait(for: pause, now)
    }

    /// A record has codes.
    init(resuming stored: StoredApproval, _ codes: SecretRef, writtenAt: WallTime, _ now: Moment) {
        self.stored = stored
        self.stored.interval = stored.interval.clamped(to: Self.believableIntervals)
        self.codes = codes
        endsAt = now.uptime + stored.expiresAt.left(writtenAt: writtenAt, now)
        // Where the clock says that the codes have ended, the provider is asked.
        if stored.expiresAt <= now.wall { self.stored.expiresAt = now.wall(at: endsAt) }
        retry = stored.notBefore.flatMap { Retry(demandedUntil: $0, now) } ?? Retry(now)
        doubt = .restart
        retry.spacing = pause
    }

    /// The pause between two polls. A poll leaves a little later than the interval: clocks of devices run fast, and a strict
    /// server starts over.
    private var pause: Duration { stored.interval * 6 / 5 }

    /// A pause that leaves time for one more poll while the codes live, if the interval allows that.
    private func pause(of delay: Duration, _ now: Moment) -> Duration {
        min(delay, max(endsAt + (.zero - Self.lastPoll) - now.uptime, stored.interval))
    }

    // MARK: The grant

    /// The person has approved, and the provider has yet to name the user.
    mutating func keep(_ grant: SecretRef, until end: Uptime, _ now: Moment) {
        (self.grant, endsAt) = (grant, end)
        stored.expiresAt = now.wall(at: end)
    }

    /// Forgets this grant; returns whether it was this one's.
    mutating func dropGrant(_ grant: SecretRef) -> Bool {
        guard self.grant == grant else { return false }
        self.grant = nil
        return true
    }

    // MARK: Polling

    /// A poll leaves; false while one is out.
    mutating func poll(_ now: Moment) -> Bool {
        guard !isPolling else { return false }
        retry.begin(now)
        return true
    }

    /// The person has not decided yet.
    mutating func pollUndecided(tooFast: Bool, _ now: Moment) {
        if tooFast {
            stored.interval += Self.slowDown
            retry.spacing = pause
        }
        // A `slow_down` does not say whether an answer that nobody heard was a grant.
        if !tooFast { doubt = nil }
        retry.wait(for: pause(of: pause, now), isDemanded: tooFast, now)
        stored.notBefore = notBefore
    }

    /// There was no usable answer.
    mutating func pollFailed(_ failure: Unavailability, _ now: Moment) {
        if failure.ambiguous { doubt = doubt ?? .lostAnswer }
        if let demanded = failure.retryAfter {
            // It is waited for also where the codes end before.
            retry.failed(after: max(demanded, pause), isDemanded: true, now)
        } else {
            let backoff = min(pause * (1 << min(retry.failures, 10)), Self.longestBackoff)
            retry.failed(after: pause(of: max(pause, backoff), now), now)
        }
        stored.notBefore = notBefore
    }

    /// The wall clock was set, or the machine resumed: a person may have approved meanwhile.
    ///
    /// - Returns: whether what is stored reads otherwise now.
    mutating func clockJumped(_ now: Moment) -> Bool {
        let before = stored
        stored.expiresAt = now.wall(at: endsAt)
        retry.clockJumped(now)
        stored.notBefore = notBefore
        return stored != before
    }

    mutating func hurry(_ now: Moment, using random: inout Randomness) { retry.hurry(now, using: &random) }

    // MARK: What can be seen

    private var isPolling: Bool { retry.time == nil }

    /// When the pause that the provider demands is over.
    private var notBefore: WallTime? { retry.isDemanded ? retry.time?.wall : nil }

    /// Whether the provider has to be asked before anything ends: this process has not polled yet.
    private var isUnasked: Bool { doubt == .restart && retry.lastTried == nil }

    /// Why nobody can know what became of it; `nil` where no answer may have been missed.
    var interruption: SessionError? {
        if grant != nil { return .approvalUnidentified }
        return doubt.map(SessionError.approvalInterrupted)
    }

    /// Whether its codes have ended, and no answer about them is to come.
    func hasExpired(_ now: Moment) -> Bool { !isPolling && endsAt <= now.uptime && !isUnasked }

    /// When a poll is due, or the codes end; `nil` while a poll is out.
    var dueAt: Uptime? {
        guard let time = retry.time?.uptime else { return nil }
        return isUnasked ? time : min(time, endsAt)
    }
}

extension Duration {
    fileprivate func clamped(to bounds: ClosedRange<Duration>) -> Duration {
        min(max(self, bounds.lowerBound), bounds.upperBound)
    }
}
