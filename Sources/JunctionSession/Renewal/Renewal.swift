/// The renewal of the session: what is under way, or what the next attempt waits for.
///
/// | phase | leaves it by | to |
/// |---|---|---|
/// | resting: scheduled | the token's renewal time, its end, a caller | asking, writing the intent |
/// | resting: replaying | a moment inside the provider's reuse grace | writing the intent |
/// | resting: backing off | its time, a caller with a dead token, a resume, the network's return | asking, writing the intent |
/// | resting: postponed | its time, `session.renew` | due |
/// | resting: due | a handler that registers, where one is needed | asking, writing the intent |
/// | asking | an answer; no handler could help; nothing to renew with | writing the intent; postponed; scheduled |
/// | writing the intent | the write | sending |
/// | sending | the provider's answer, or its absence | answered |
/// | answered: a grant or a verdict; any other outcome | the end of the write under way, if there is one | storing; replaying, backing off, asking |
/// | storing | the write | a new `Renewal`; backing off, where only a refresh token came |
struct Renewal: Hashable, Sendable {
    private(set) var phase = Phase.resting(.scheduled)
    private(set) var retry = Retry()
    /// What went wrong last, for the snapshot.
    private(set) var lastError: String?
    private var refreshRetries = RefreshRetries()
    /// The end of the pause that the provider has demanded, until a grant. Only refresh retries and `session.renew` pass it.
    private var demand: Retry.Time?
    /// When a token that the API had rejected was last replaced.
    private var lastReplacedRejected: Uptime?
    /// The last failure that `session.renew` answered with.
    private var told: RepeatedFailure?
    /// The provider has forgotten this installation, and has granted nothing since.
    private(set) var isRegistrationForgotten = false

    /// The order of a rotation is fixed: write the intent, send, write the new generation, then serve it.
    enum Phase: Hashable, Sendable {
        case resting(Wait)
        /// A round of questions to the handlers is under way.
        case asking(Attempt)
        /// The intent is being written.
        case writingIntent(Try, PersistenceQueue.Update)
        case sending(Try, since: Uptime)
        /// The answer waits until no change is being written; a grant also waits for the write of a name.
        case answered(Try, since: Uptime, Answer)
        /// The persistence queue writes the outcome. With a shortfall, the renewal has failed when that has ended.
        case storing(Shortfall?)
    }

    /// What the provider has answered.
    enum Answer: Hashable, Sendable {
        case granted(Granted)
        /// A new refresh token, and no access token that can be used.
        case fellShort(Granted, Unavailability)
        case failed(RenewalFailure)

        var granted: Granted? {
            switch self {
            case .granted(let granted), .fellShort(let granted, _): granted
            case .failed: nil
            }
        }
    }

    /// An answer that brought a new refresh token and no usable access token.
    struct Shortfall: Hashable, Sendable {
        var tried: Try
        var failure: Unavailability
    }

    /// What the next attempt waits for.
    enum Wait: Hashable, Sendable {
        /// The renewal time that was drawn with the token.
        case scheduled
        /// The time to send the same refresh token again. No handler is asked.
        case refreshRetry
        /// The pause after a transient failure. What a handler gave is used again.
        case backoff(keeping: Kept?)
        /// The end of a postponement: no handler could help, and only `session.renew` and a sign-in ask before it.
        case postponed(until: Retry.Time, after: String)
        /// A handler to ask: the postponement is over, or the provider has forgotten the registration.
        case due
    }

    /// One attempt, and what it is made with.
    struct Try: Hashable, Sendable {
        var attempt: Attempt
        /// What a handler gave; `nil`: the session's own secrets.
        var given: Given?
        /// The round of questions that led to it, if there was one.
        var round: HandlerRounds.Round?
        var isRefreshRetry = false
    }

    /// What a handler gave, and the round in which it did.
    struct Kept: Hashable, Sendable {
        var given: Given
        var round: HandlerRounds.Round?
    }

    private struct RepeatedFailure: Hashable, Sendable {
        var refusal: SessionError
        /// Why no handler could help, if that was it.
        var words: String?
        var at: Uptime
    }

    init() {}

    // MARK: Start

    /// Goes on from a record: an open intent, a demanded pause and a postponement outlive the process.
    init(resuming stored: StoredSession, writtenAt: WallTime, postponement: Duration, at now: Moment) {
        let demanded = stored.demandedUntil.flatMap { Retry(demandedUntil: $0, now) }
        demand = demanded?.time
        if stored.renewalUnderWay, !stored.renewalUsesAnswer {
            // It may have been sent when the record was written, and its answer is lost.
            let age = max(now.wall - writtenAt, .zero)
            refreshRetries = RefreshRetries(after: now.uptime + (.zero - age))
            retry = Retry(now)
            phase = .resting(.refreshRetry)
        } else if let demanded {
            retry = demanded
            phase = .resting(.backoff(keeping: nil))
        } else if let until = stored.postponedUntil {
            phase = .resting(Self.wait(postponedUntil: until, postponement, now))
        } else if stored.renewalUnderWay {
            // A handler has to give again what an app's server made.
            phase = .resting(.due)
        }
    }

    /// What is left of a stored postponement.
    private static func wait(postponedUntil until: WallTime, _ postponement: Duration, _ now: Moment) -> Wait {
        // The wall clock may have been set: a postponement never grows.
        let longest = postponement + RenewalPolicy.postponementSpread.upperBound
        let left = min(max(until - now.wall, .zero), longest)
        guard left > .zero else { return .due }
        return .postponed(until: Retry.Time(now.uptime + left, now), after: "no session handler could help")
    }

    /// An attempt failed that was made during a postponement, which goes on: no handler is asked before its end.
    mutating func resume(postponedUntil until: WallTime, _ postponement: Duration, _ now: Moment) {
        let wait = Self.wait(postponedUntil: until, postponement, now)
        // Of a postponement and a pause that the provider demands the later end counts.
        guard case .resting(.backoff(keeping: nil)) = phase, case .postponed(let end, _) = wait,
            end.uptime > demandedUntil(now)?.uptime ?? now.uptime
        else { return }
        phase = .resting(wait)
    }

    // MARK: Time

    /// Ends a postponement whose time is over.
    ///
    /// - Returns: whether there was one.
    mutating func wake(_ now: Moment) -> Bool {
        guard case .resting(.postponed(let until, _)) = phase, until.uptime <= now.uptime else { return false }
        phase = .resting(.due)
        return true
    }

    /// When the next attempt is due by itself; `nil` while one is under way.
    func due(_ session: Session, _ now: Moment) -> WallTime? {
        guard case .resting(let wait) = phase, isOpen(to: session) else { return nil }
        switch wait {
        case .postponed(let until, _): return now.wall(at: until.uptime)
        case .refreshRetry, .backoff: return retry.time.map { now.wall(at: $0.uptime) }
        case .due: return now.wall
        case .scheduled:
            if !session.isAlive(now) {
                let earliest = retry.lastTried.map { $0 + RenewalPolicy.shortestLife } ?? now.uptime
                return now.wall(at: max(earliest, now.uptime))
            }
            return session.hasEnd ? session.renewAt ?? session.stored.token?.expiresAt : nil
        }
    }

    /// The wall clock was set, or the machine resumed.
    mutating func clockJumped(_ now: Moment) {
        retry.clockJumped(now)
        demand = demand.map { Retry.Time($0.uptime, now) }
        if case .resting(.postponed(let until, let words)) = phase {
            phase = .resting(.postponed(until: Retry.Time(until.uptime, now), after: words))
        }
    }

    /// The network may have come back. A replay does not wait for it.
    mutating func hurry(_ now: Moment, using random: inout Randomness) {
        if case .resting(.backoff) = phase { retry.hurry(now, using: &random) }
    }

    // MARK: Beginning

    /// A round of questions begins for this attempt.
    mutating func ask(_ attempt: Attempt, _ now: Moment) {
        phase = .asking(attempt)
        refreshRetries.close()
        retry.begin(now)
    }

    /// The attempt that is made without a question.
    func attempt(_ attempt: Attempt) -> Try {
        Try(attempt: attempt, given: kept?.given, round: kept?.round, isRefreshRetry: isRetryingRefresh)
    }

    /// The intent of an attempt is being written.
    mutating func writeIntent(of next: Try, until update: PersistenceQueue.Update, _ now: Moment) {
        // With a handler it began when the handler was asked.
        if isResting { retry.begin(now) }
        phase = .writingIntent(next, update)
    }

    /// The intent is written: the request leaves now.
    mutating func send(_ next: Try, _ now: Moment) {
        if next.isRefreshRetry { refreshRetries.sent(now) }
        phase = .sending(next, since: now.uptime)
    }

    /// A token that the API rejected is being replaced.
    mutating func replaceRejected(_ now: Moment) {
        lastReplacedRejected = now.uptime
    }

    // MARK: Outcomes

    /// The attempt of this request; `nil` if its outcome is no longer wanted.
    func sent(_ attempt: Attempt) -> Try? {
        guard case .sending(let tried, _) = phase, tried.attempt == attempt else { return nil }
        return tried
    }

    /// The provider has answered this request; false if its outcome is no longer wanted.
    mutating func answered(_ attempt: Attempt, _ answer: Answer, _ now: Moment) -> Bool {
        guard case .sending(let tried, var since) = phase, tried.attempt == attempt else { return false }
        // The provider's grace begins when the request left, after name and connection.
        if case .failed(.unavailable(let failure)) = answer, let ago = failure.sentAgo {
            since = max(since, now.uptime + (.zero - ago))
        }
        phase = .answered(tried, since: since, answer)
        return true
    }

    /// The session of an answer that waits.
    var granted: Granted? {
        if case .answered(_, _, let answer) = phase { answer.granted } else { nil }
    }

    /// When the request left that has been answered.
    var sentAt: Uptime? {
        if case .answered(_, let since, _) = phase { since } else { nil }
    }

    /// The send deadline of a replay inside the provider's grace.
    var sendDeadline: Uptime? {
        guard case .sending(let tried, let since) = phase, tried.isRefreshRetry else { return nil }
        return refreshRetries.sendDeadline(since)
    }

    /// The outcome is being made durable.
    mutating func store() {
        phase = .storing(nil)
    }

    /// A new refresh token is being written, which came without a usable access token. The old one is spent, and so is what a
    /// handler gave.
    mutating func storeSuccessor(_ tried: Try, _ failure: Unavailability) {
        var (tried, failure) = (tried, failure)
        (tried.given, tried.round) = (nil, nil)
        failure.ambiguous = false
        phase = .storing(Shortfall(tried: tried, failure: failure))
        refreshRetries.close()
    }

    /// What was wrong with the answer whose refresh token is being written.
    var shortfall: Shortfall? {
        if case .storing(let shortfall) = phase { shortfall } else { nil }
    }

    /// A new token is written: earlier failures count no more.
    mutating func succeeded() {
        var next = Renewal()
        (next.retry, next.lastReplacedRejected, next.refreshRetries) = (
            retry, lastReplacedRejected, refreshRetries.closed
        )
        next.retry.reset()
        self = next
    }

    /// Another event has made the attempt pointless.
    mutating func abandon() {
        self = Renewal()
    }

    /// The provider wants a new credential: nothing is scheduled.
    ///
    /// - Parameter isAwaited: a caller of `session.renew` waits.
    mutating func reauthenticationDemanded(_ refusal: SessionError, isAwaited: Bool, _ now: Moment) {
        var next = Renewal()
        (next.retry, next.told, next.refreshRetries) = (retry, told, refreshRetries.closed)
        next.retry.reset()
        self = next
        lastError = "reauthenticationRequired: " + refusal.message
        if isAwaited { tell(refusal, now) }
    }

    /// A transient failure.
    ///
    /// - Returns: what callers are answered with, and how long the pause is.
    ///
    /// - Parameters:
    ///   - isAwaited: a caller of `session.renew` waits.
    ///   - isReauthenticationPresumed: the provider has refused without a reason for so long that a new credential is wanted.
    ///   - sentAt: when the request was sent, if it carried a refresh token that may be spent now.
    ///   - left: what is left of the token's life, if it lives.
    mutating func failed(
        _ failure: Unavailability,
        _ tried: Try,
        isReauthenticationPresumed: Bool,
        refreshTokenSentAt sentAt: Uptime?,
        left: Duration?,
        isAwaited: Bool,
        _ now: Moment,
        using random: inout Randomness
    ) -> SessionError {
        var refusal =
            isReauthenticationPresumed
            ? .reauthenticationPresumed(failure.message) : SessionError(failure)
        lastError = "\(refusal.kind.rawValue): \(refusal.message)"
        if failure.ambiguous, let sentAt { refreshRetries.lost(sentAt: sentAt, now) }
        if let asked = failure.retryAfter {
            let end = now.uptime + RenewalPolicy.delay(afterBeingAsked: asked, using: &random)
            demand = Retry.Time(max(end, demand?.uptime ?? end), now)
        }
        var delay: Duration
        if let replay = refreshRetries.delay(isAmbiguous: failure.ambiguous, now, using: &random) {
            delay = replay
            retry.failed(after: delay, now)
            phase = .resting(.refreshRetry)
        } else {
            refreshRetries.close()
            delay = RenewalPolicy.backoff(afterFailures: retry.failures + 1, left: left, using: &random)
            let demanded = demandedUntil(now).map { $0.uptime - now.uptime }
            if let demanded { delay = failure.retryAfter == nil ? max(delay, demanded) : demanded }
            retry.failed(after: delay, isDemanded: demanded != nil, now)
            phase = .resting(.backoff(keeping: tried.kept(after: failure)))
        }
        refusal.retryAfter = delay
        if isAwaited { tell(refusal, now) }
        return refusal
    }

    /// No handler could help: none is asked before `until`.
    mutating func postpone(until: Retry.Time, after words: String) {
        phase = .resting(.postponed(until: until, after: words))
        lastError = "unableToRetrieveAuthToken: " + words
    }

    /// The attempt is over, and no retry is due.
    mutating func rest() {
        phase = .resting(.scheduled)
    }

    /// `session.renew` answers with this for the next ten seconds: it makes one attempt in that time while it fails.
    ///
    /// - Parameter words: why no handler could help, if that is the reason.
    mutating func tell(_ refusal: SessionError, saying words: String? = nil, _ now: Moment) {
        told = RepeatedFailure(refusal: refusal, words: words, at: now.uptime)
    }

    /// The provider has said that it has forgotten this installation, and not in the answer to a renewal: a renewal is due.
    ///
    /// - Returns: false if the renewal has its next attempt already.
    mutating func noticeForgottenRegistration() -> Bool {
        guard case .resting(.scheduled) = phase else { return false }
        (phase, isRegistrationForgotten) = (.resting(.due), true)
        let reason = RenewalFailure.registrationForgotten.reported.message
        lastError = "\(SessionError.Kind.providerUnavailable.rawValue): \(reason)"
        return true
    }

    /// The provider has forgotten this installation.
    ///
    /// - Returns: whether the provider says so for the first time since it granted something. A new registration is then sent at
    ///   once.
    mutating func registrationForgotten() -> Bool {
        defer { isRegistrationForgotten = true }
        return !isRegistrationForgotten
    }

    // MARK: What can be seen

    /// Whether a renewal may happen by itself. While the provider demands a new credential, only what a handler gave is tried.
    func isOpen(to session: Session) -> Bool {
        guard session.stored.token != nil else { return false }
        guard session.stored.isReauthenticationDemanded else { return true }
        return switch phase {
        case .resting(.scheduled), .resting(.due), .resting(.postponed), .resting(.backoff(keeping: nil)): false
        case .resting(.refreshRetry), .resting(.backoff), .asking, .writingIntent, .sending, .answered, .storing: true
        }
    }

    var isResting: Bool {
        if case .resting = phase { true } else { false }
    }

    /// Whether a request is on its way to the provider, or about to be.
    var isBusy: Bool {
        switch phase {
        case .writingIntent, .sending, .answered, .storing: true
        case .resting, .asking: false
        }
    }

    /// Whether the next attempt sends the same refresh token again.
    var isRetryingRefresh: Bool {
        if case .resting(.refreshRetry) = phase { true } else { false }
    }

    /// Whether the outcome of a request is unknown.
    var isOutcomeUnknown: Bool { refreshRetries.isOpen }

    /// What a handler gave for the next attempt.
    var kept: Kept? {
        if case .resting(.backoff(let kept)) = phase { kept } else { nil }
    }

    /// Until when no handler is asked, and why.
    var postponement: (until: Retry.Time, words: String)? {
        if case .resting(.postponed(let until, let words)) = phase { (until, words) } else { nil }
    }

    /// The end of the pause that the provider demands.
    func demandedUntil(_ now: Moment) -> Retry.Time? { demand.flatMap { $0.uptime > now.uptime ? $0 : nil } }

    /// When the retry of a failure is due.
    var retryAt: Retry.Time? {
        switch phase {
        case .resting(.refreshRetry), .resting(.backoff): retry.time
        case .resting(.scheduled), .resting(.postponed), .resting(.due), .asking, .writingIntent, .sending, .answered,
            .storing:
            nil
        }
    }

    /// What `session.renew` repeats for ten seconds after a failure.
    func refusalToRepeat(_ now: Moment) -> SessionError? {
        guard let told, now.uptime - told.at < RenewalPolicy.attemptSpacing else { return nil }
        let pause = RenewalPolicy.attemptSpacing - (now.uptime - told.at)
        if let words = told.words { return .noHandlerCouldRenew(words, renewableAfter: pause) }
        var refusal = told.refusal
        refusal.retryAfter = pause
        return refusal
    }

    /// Whether a rejected token was replaced a moment ago.
    func hasReplacedJustNow(_ now: Moment) -> Bool {
        lastReplacedRejected.map { now.uptime - $0 < RenewalPolicy.attemptSpacing } ?? false
    }

    /// What handlers gave and a renewal still needs.
    var secrets: [SecretRef] {
        switch phase {
        case .resting(.backoff(let kept?)): [kept.given.secret]
        case .writingIntent(let next, _), .sending(let next, _): next.given.map { [$0.secret] } ?? []
        case .answered(let tried, _, let answer): [tried.given?.secret, answer.granted?.secrets].compactMap(\.self)
        case .resting, .asking, .storing: []
        }
    }
}

extension Renewal.Try {
    /// What the retry uses again: not a signature that may have been spent.
    fileprivate func kept(after failure: Unavailability) -> Renewal.Kept? {
        guard let given, !(given.isSpentByUse && failure.ambiguous) else { return nil }
        return Renewal.Kept(given: given, round: round)
    }
}
