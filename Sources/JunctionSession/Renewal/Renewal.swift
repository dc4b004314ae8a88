/// The renewal of the session: the attempt under way, or what the next attempt waits for.
///
/// | phase | event | next phase |
/// |---|---|---|
/// | resting: scheduled | the token's renewal time, its end, a caller | asking, writing the intent |
/// | resting: refresh retry | a time inside the provider's reuse grace | writing the intent |
/// | resting: backing off | its time, a caller with no valid token, resume, network | asking, writing the intent |
/// | resting: postponed | its time | due |
/// | resting: postponed | `session.renew`, a handler of a user who was not asked (dead token) | asking |
/// | resting: scheduled | the provider has forgotten the registration | due |
/// | resting: due | a handler registers, if one is needed | asking, writing the intent |
/// | asking | an answer; no handler could help; nothing to renew with | writing the intent; postponed, or backing off if a demanded pause ends later; scheduled |
/// | writing the intent | the write ends | sending |
/// | sending | the provider answers, or the request fails | answered |
/// | answered: a grant, or a verdict that ends the session | no change is being written | storing |
/// | answered: any other outcome | no change is being written | refresh retry, backing off, asking, postponed, scheduled, writing the intent |
/// | storing | the write ends | a new `Renewal`; backing off, if only a refresh token came |
struct Renewal: Hashable, Sendable {
    private(set) var phase = Phase.resting(.scheduled)
    private(set) var retry = Retry()
    /// The last failure, for the snapshot.
    private(set) var lastError: String?
    private var refreshRetries = RefreshRetries()
    /// The time at which a token that the API had rejected was last replaced.
    private var lastReplacedRejected: Uptime?
    /// The last failure that `session.renew` reported.
    private var lastRefusal: RepeatedFailure?
    /// Whether the provider has forgotten this installation and has granted nothing since.
    private(set) var isRegistrationForgotten = false

    /// The steps of a rotation have a fixed order: write the intent, send, write the new generation, then serve it.
    indirect enum Phase: Hashable, Sendable {
        case resting(Wait)
        case asking(HandlerRounds.Round)
        case writingIntent(Attempt, PersistenceQueue.Update)
        case sending(Attempt, since: Uptime)
        /// The answer waits until no change is being written. A grant also waits for the write of an external user id.
        case answered(Attempt, since: Uptime, Result<Granted, RenewalFailure>)
        /// The persistence queue writes the outcome.
        case storing
        /// The persistence queue writes a new refresh token that came without a usable access token. When that write has
        /// ended, the attempt has failed.
        case storingSuccessor(Attempt, Unavailability)
    }

    /// What the next attempt waits for.
    enum Wait: Hashable, Sendable {
        /// The renewal time that was drawn with the token.
        case scheduled
        /// The time to send the same refresh token again. No handler is asked.
        case refreshRetry
        /// The pause after a transient failure. The next attempt uses a kept handler's secret again.
        case backoff(keeping: Attempt?)
        /// The end of a postponement: no handler could help. Until then handlers are asked only for `session.renew`, for
        /// a sign-in, and as `mayPassPostponement` says.
        case postponed
        /// A handler to ask: the postponement is over, or the provider has forgotten the registration.
        case due
    }

    /// One attempt, and the secret that it uses.
    struct Attempt: Hashable, Sendable {
        var attempt: AttemptID
        /// A handler's secret. `nil`: the session's own secrets.
        var handlerSecret: HandlerSecret?
        /// The round of questions that led to the attempt, if there was one.
        var round: HandlerRounds.Round?
        var isRefreshRetry = false
    }

    private struct RepeatedFailure: Hashable, Sendable {
        var refusal: SessionError
        /// The reason why no handler could help, if that is the failure.
        var words: String?
        var at: Uptime
    }

    init() {}

    // MARK: Start

    /// Resumes from a record. An open intent, a demanded pause and a postponement outlive the process.
    init(resuming session: Session, at now: Moment) {
        lastError =
            session.postponement?.reason.map(Self.error(ofPostponementAfter:))
            ?? session.reauthenticationReason.map(Self.error(of:))
        if session.renewalUnderWay, !session.intentCannotBeResent {
            // The previous process may have sent the request at the write time, and its answer is lost.
            let age = max(now.wall - session.writtenAt, .zero)
            refreshRetries.lost(sentAt: now.uptime + (.zero - age), now)
            retry = Retry(now)
            phase = .resting(.refreshRetry)
        } else if let end = session.demandedUntil(now) {
            retry = Retry(demandedUntil: end)
            phase = .resting(.backoff(keeping: nil))
            resumePostponement(session, now)
        } else if session.postponement != nil {
            phase = .resting(.postponed)
        } else if session.renewalUnderWay {
            // The request did not use a refresh token, so it is made anew. With handlers, one has to give the secret again.
            phase = .resting(.due)
        }
    }

    // MARK: Postponements

    /// Begins the session's postponement: no handler could help, and none is asked before its end. A pause that the
    /// provider demands and that ends later stays.
    mutating func postpone(_ session: Session, _ now: Moment) {
        lastError = session.postponement.map { Self.error(ofPostponementAfter: $0.words) }
        phase = .resting(.backoff(keeping: nil))
        if let end = session.demandedUntil(now) { retry.wait(until: end) }
        resumePostponement(session, now)
    }

    /// Resumes a postponement after a failed attempt during it. No handler is asked before the postponement ends.
    mutating func resumePostponement(_ session: Session, _ now: Moment) {
        // If the provider also demands a pause, the later of the two ends counts.
        guard case .resting(.backoff(keeping: nil)) = phase, let postponement = session.postponement,
            postponement.until > now.uptime, postponement.until >= session.demandedUntil(now) ?? now.uptime
        else { return }
        phase = .resting(.postponed)
    }

    mutating func postponementEnded() {
        phase = .resting(.due)
    }

    // MARK: Time

    /// Returns the time at which the next attempt is due without a caller. `nil` while an attempt is under way.
    func due(_ session: Session, _ now: Moment) -> Uptime? {
        guard case .resting(let wait) = phase, isOpen(to: session) else { return nil }
        switch wait {
        case .postponed: return session.postponement?.until ?? now.uptime
        case .refreshRetry, .backoff: return retry.time
        case .due: return now.uptime
        case .scheduled:
            if !session.isServable(now) {
                let earliest = retry.lastTried.map { $0 + RenewalPolicy.shortestLife } ?? now.uptime
                return max(earliest, now.uptime)
            }
            guard session.hasEnd, let time = session.renewAt(now) ?? session.token?.expiresAt else { return nil }
            return now.uptime + (time - now.wall)
        }
    }

    mutating func clockJumped(_ now: Moment) {
        retry.clockJumped(now)
    }

    /// Shortens a backoff, because the network may have returned. Refresh retries do not depend on it.
    mutating func shortenPause(_ now: Moment, using random: inout Randomness) {
        if case .resting(.backoff) = phase { retry.shortenPause(now, using: &random) }
    }

    // MARK: Beginning

    mutating func ask(_ round: HandlerRounds.Round, _ now: Moment) {
        phase = .asking(round)
        refreshRetries.close()
        retry.begin(now)
    }

    mutating func continueRound(_ round: HandlerRounds.Round) {
        phase = .asking(round)
    }

    /// Returns the attempt that is made without a question.
    func attempt(_ attempt: AttemptID) -> Attempt {
        Attempt(
            attempt: attempt,
            handlerSecret: attemptToRepeat?.handlerSecret,
            round: attemptToRepeat?.round,
            isRefreshRetry: isRetryingRefresh
        )
    }

    mutating func writeIntent(of next: Attempt, until update: PersistenceQueue.Update, _ now: Moment) {
        // If a handler was asked, the attempt began with the question.
        if isResting { retry.begin(now) }
        phase = .writingIntent(next, update)
    }

    /// Enters the phase in which the request is sent. The intent is on the disk, or the disk has refused it.
    mutating func send(_ next: Attempt, _ now: Moment) {
        if next.isRefreshRetry { refreshRetries.sent(now) }
        phase = .sending(next, since: now.uptime)
    }

    /// Records that a token which the API rejected is being replaced.
    mutating func replaceRejected(_ now: Moment) {
        lastReplacedRejected = now.uptime
    }

    // MARK: Outcomes

    /// Keeps the provider's answer to this request. Returns false if its outcome is no longer wanted.
    mutating func answered(
        _ attempt: AttemptID,
        _ answer: Result<Granted, RenewalFailure>,
        _ now: Moment
    ) -> Bool {
        guard case .sending(let tried, var since) = phase, tried.attempt == attempt else { return false }
        // The provider's grace begins when the request is sent, after name resolution and connection.
        if case .failure(.unavailable(let failure)) = answer, let ago = failure.sentAgo {
            since = max(since, now.uptime + (.zero - ago))
        }
        phase = .answered(tried, since: since, answer)
        return true
    }

    var granted: Granted? {
        if case .answered(_, _, .success(let granted)) = phase { granted } else { nil }
    }

    /// The send time of the request whose answer waits.
    var sentAt: Uptime? {
        if case .answered(_, let since, _) = phase { since } else { nil }
    }

    /// The attempt whose request is in flight.
    var sending: Attempt? {
        if case .sending(let tried, _) = phase { tried } else { nil }
    }

    /// The send deadline of a refresh retry inside the provider's grace.
    var sendDeadline: Uptime? {
        guard case .sending(let tried, let since) = phase, tried.isRefreshRetry else { return nil }
        return refreshRetries.sendDeadline(since)
    }

    mutating func store() {
        phase = .storing
    }

    /// Enters the phase in which a new refresh token without a usable access token is written. The old refresh token
    /// and the handler's secret are spent.
    mutating func storeSuccessor(_ tried: Attempt, _ failure: Unavailability) {
        var (tried, failure) = (tried, failure)
        (tried.handlerSecret, tried.round) = (nil, nil)
        failure.ambiguous = false
        phase = .storingSuccessor(tried, failure)
        refreshRetries.close()
    }

    /// Handles the end of a new token's write. Earlier failures no longer count.
    mutating func succeeded() {
        retry.reset()
        refreshRetries.close()
        let before = self
        self = Renewal()
        (retry, lastReplacedRejected, refreshRetries) = (
            before.retry, before.lastReplacedRejected, before.refreshRetries
        )
    }

    /// Ends an attempt that another event has made pointless.
    mutating func abandon() {
        self = Renewal()
    }

    /// Handles the provider's demand for a new credential. No renewal is scheduled.
    mutating func reauthenticationDemanded() {
        retry.reset()
        refreshRetries.close()
        let before = self
        self = Renewal()
        (retry, lastRefusal, refreshRetries) = (before.retry, before.lastRefusal, before.refreshRetries)
        lastError = Self.error(of: .reauthenticationRequired)
    }

    /// Handles a transient failure.
    ///
    /// - Parameter sentAt: the send time of the request, if it carried a refresh token that may be spent now.
    /// - Returns: the error for waiting callers, with the length of the pause.
    mutating func failed(
        _ failure: Unavailability,
        _ tried: Attempt,
        _ session: Session,
        refreshTokenSentAt sentAt: Uptime?,
        _ now: Moment,
        using random: inout Randomness
    ) -> SessionError {
        var refusal =
            session.isReauthenticationPresumed
            ? .reauthenticationPresumed(failure.message) : SessionError(failure)
        lastError = Self.error(of: refusal)
        if failure.ambiguous, let sentAt { refreshRetries.lost(sentAt: sentAt, now) }
        var delay: Duration
        if let retryDelay = refreshRetries.delay(isAmbiguous: failure.ambiguous, now, using: &random) {
            delay = retryDelay
            retry.failed(after: delay, now)
            phase = .resting(.refreshRetry)
        } else {
            refreshRetries.close()
            // A provider may demand a second each time, for hours. So a demand does not replace the backoff, which is at
            // most a minute then.
            let left = failure.retryAfter != nil ? .zero : session.isServable(now) ? session.validity(now) : nil
            delay = RenewalPolicy.backoff(afterFailures: retry.failures + 1, left: left, using: &random)
            let demanded = session.demandedUntil(now).map { $0 - now.uptime }
            retry.failed(after: delay, demanding: demanded, now)
            delay = max(delay, demanded ?? .zero)
            phase = .resting(.backoff(keeping: tried.isReusable(after: failure) ? tried : nil))
        }
        refusal.retryAfter = delay
        return refusal
    }

    private static func error(ofPostponementAfter words: String) -> String { "unableToRetrieveAuthToken: " + words }

    private static func error(of refusal: SessionError) -> String { "\(refusal.kind.rawValue): \(refusal.message)" }

    mutating func rest() {
        phase = .resting(.scheduled)
    }

    /// Keeps the failure that `session.renew` repeats for ten seconds. While it fails, it makes one attempt in that
    /// time.
    ///
    /// - Parameter words: the reason why no handler could help, if that is the failure.
    mutating func rememberRefusal(_ refusal: SessionError, saying words: String? = nil, _ now: Moment) {
        lastRefusal = RepeatedFailure(refusal: refusal, words: words, at: now.uptime)
    }

    /// Makes a renewal due, because the provider has forgotten this installation and did not say so in answer to a
    /// renewal.
    ///
    /// - Returns: false if the next attempt is already fixed.
    mutating func noticeForgottenRegistration() -> Bool {
        guard case .resting(.scheduled) = phase else { return false }
        (phase, isRegistrationForgotten) = (.resting(.due), true)
        let reason = RenewalFailure.registrationForgotten.report.reason.message
        lastError = "\(SessionError.Kind.providerUnavailable.rawValue): \(reason)"
        return true
    }

    /// Records that the provider has forgotten this installation.
    ///
    /// - Returns: whether this is the first such answer since a grant. The daemon then sends a new registration at
    ///   once.
    mutating func markRegistrationForgotten() -> Bool {
        defer { isRegistrationForgotten = true }
        return !isRegistrationForgotten
    }

    // MARK: Queries

    /// Whether a renewal may begin without a caller. While the provider demands a new credential, only a handler's
    /// secret is tried.
    func isOpen(to session: Session) -> Bool {
        guard session.token != nil else { return false }
        guard session.isReauthenticationDemanded else { return true }
        return switch phase {
        // After a restart, a handler has to give the secret of an open intent again.
        case .resting(.due), .resting(.postponed), .resting(.backoff(keeping: nil)):
            session.renewalUnderWay && session.intentCannotBeResent
        case .resting(.scheduled): false
        case .resting(.refreshRetry), .resting(.backoff), .asking, .writingIntent, .sending, .answered, .storing,
            .storingSuccessor:
            true
        }
    }

    var isResting: Bool {
        if case .resting = phase { true } else { false }
    }

    var isBusy: Bool {
        switch phase {
        case .writingIntent, .sending, .answered, .storing, .storingSuccessor: true
        case .resting, .asking: false
        }
    }

    var round: HandlerRounds.Round? {
        if case .asking(let round) = phase { round } else { nil }
    }

    /// Whether the next attempt sends the same refresh token again.
    var isRetryingRefresh: Bool {
        if case .resting(.refreshRetry) = phase { true } else { false }
    }

    /// Whether the outcome of a request is unknown.
    var isOutcomeUnknown: Bool { refreshRetries.isOpen }

    /// The attempt whose handler's secret the next attempt uses again.
    var attemptToRepeat: Attempt? {
        if case .resting(.backoff(let attemptToRepeat)) = phase { attemptToRepeat } else { nil }
    }

    var isPostponed: Bool { phase == .resting(.postponed) }

    /// The time of the retry after a failure.
    var retryAt: Uptime? {
        switch phase {
        case .resting(.refreshRetry), .resting(.backoff): retry.time
        case .resting(.scheduled), .resting(.postponed), .resting(.due), .asking, .writingIntent, .sending, .answered,
            .storing, .storingSuccessor:
            nil
        }
    }

    /// Returns the failure that `session.renew` repeats for ten seconds.
    func refusalToRepeat(_ now: Moment) -> SessionError? {
        guard let lastRefusal, now.uptime - lastRefusal.at < RenewalPolicy.attemptSpacing else { return nil }
        let pause = RenewalPolicy.attemptSpacing - (now.uptime - lastRefusal.at)
        if let words = lastRefusal.words { return .noHandlerCouldRenew(words, renewableAfter: pause) }
        var refusal = lastRefusal.refusal
        refusal.retryAfter = pause
        return refusal
    }

    /// Whether a rejected token was replaced in the last ten seconds.
    func hasReplacedJustNow(_ now: Moment) -> Bool {
        lastReplacedRejected.map { now.uptime - $0 < RenewalPolicy.attemptSpacing } ?? false
    }

    /// The secrets that the renewal still needs: handlers' secrets and those of a grant that waits.
    var secrets: [SecretRef] {
        switch phase {
        case .resting(.backoff(let tried?)), .writingIntent(let tried, _), .sending(let tried, _):
            tried.handlerSecret.map { [$0.secret] } ?? []
        case .answered(let tried, _, _):
            [tried.handlerSecret?.secret, granted?.secrets].compactMap(\.self)
        case .resting, .asking, .storing, .storingSuccessor: []
        }
    }
}

extension Renewal.Attempt {
    /// Whether it has a handler's secret that the retry may use again. A signature that may have been spent is not kept.
    fileprivate func isReusable(after failure: Unavailability) -> Bool {
        handlerSecret.map { !($0.isSpentByUse && failure.ambiguous) } ?? false
    }
}

extension Session {
    /// Why the user has to sign in again, as far as the record says it. `nil` if reauthentication is not pending.
    fileprivate var reauthenticationReason: SessionError? {
        guard reauthenticationPending else { return nil }
        return isReauthenticationPresumed ? .reauthenticationPresumed() : .reauthenticationRequired
    }
}
