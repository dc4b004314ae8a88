/// The renewal of the one session: what is under way, or what the next attempt waits for.
///
/// | phase | leaves it by | to |
/// |---|---|---|
/// | resting: scheduled | the token's renewal time, its end, a caller | asking, noting |
/// | resting: replaying | a moment inside the provider's reuse grace | noting |
/// | resting: backing off | its time, a caller with a dead token, a resume, the network's return | asking, noting |
/// | resting: postponed | its time, `session.renew` | due |
/// | resting: due | a handler that registers, where one is needed | asking, noting |
/// | asking | an answer; nobody could; nothing to renew with | noting; postponed; scheduled |
/// | noting the intent | the write | sending |
/// | sending | a grant or a verdict; any other outcome | storing; replaying, backing off, asking |
/// | storing | the write | a new `Renewal`; backing off, where only a refresh token came |
struct Renewal: Hashable, Sendable {
    private(set) var phase = Phase.resting(.scheduled)
    private(set) var retry = Retry()
    /// What went wrong last, for the snapshot.
    private(set) var lastError: String?
    private var replays = Replays()
    /// When a token that the API had rejected was last replaced.
    private var lastReplacedRejected: Uptime?
    /// The last failure that callers of `session.renew` were told, and when.
    private var told: ToldFailure?

    /// The fixed order of a rotation: note the intent, send, write the new generation, and only then swap.
    enum Phase: Hashable, Sendable {
        case resting(Wait)
        /// A round of questions to the handlers is under way.
        case asking(Attempt)
        /// The intent is being noted.
        case noting(Try, Ledger.Note)
        case sending(Try, since: Uptime)
        /// The outcome is being made durable: the ledger has it. With a shortfall, the renewal has failed once that is done.
        case storing(Shortfall?)
    }

    /// An answer brought a new refresh token and no usable access token: the attempt, and what was wrong.
    struct Shortfall: Hashable, Sendable {
        var tried: Try
        var failure: Unavailability
    }

    /// What the next attempt waits for.
    enum Wait: Hashable, Sendable {
        /// The renewal time that was drawn with the token.
        case scheduled
        /// Sending the same refresh token once more, nobody asked.
        case replay
        /// A transient failure. What a handler gave is used again.
        case backoff(keeping: Kept?)
        /// No handler could help: none is asked before this, but by `session.renew` and a sign-in.
        case postponed(until: Retry.Time, after: String)
        /// A postponement is over: it begins as soon as there is somebody to ask.
        case due
    }

    /// One attempt, and with what it is made.
    struct Try: Hashable, Sendable {
        var attempt: Attempt
        /// What a handler gave; nothing: the session's own secrets.
        var given: Given?
        /// The handlers' round that led to it, where one did.
        var round: HandlerRounds.Round?
        var isReplay = false
    }

    /// What a handler gave, and the round in which it did.
    struct Kept: Hashable, Sendable {
        var given: Given
        var round: HandlerRounds.Round?
    }

    private struct ToldFailure: Hashable, Sendable {
        var refusal: Refusal
        var at: Uptime
    }

    init() {}

    // MARK: Start

    /// As a stored session says: an intent that was open, or a postponement, outlives the process.
    init(resuming stored: StoredSession, writtenAt: WallTime, postponement: Duration, at now: Moment) {
        if stored.renewalUnderWay, !stored.renewalUsesAnswer {
            // It may have been sent when its record was written, and its answer is lost.
            let age = max(now.wall - writtenAt, .zero)
            replays = Replays(after: now.uptime + (.zero - age))
            retry = Retry(now)
            phase = .resting(.replay)
        } else if let demanded = stored.demandedUntil.flatMap({ Retry(demandedUntil: $0, now) }) {
            retry = demanded
            phase = .resting(.backoff(keeping: nil))
        } else if let until = stored.postponedUntil {
            phase = .resting(Self.wait(postponedUntil: until, postponement, now))
        } else if stored.renewalUnderWay {
            // What an app's server made is asked for again.
            phase = .resting(.due)
        }
    }

    /// What a stored postponement comes to.
    private static func wait(postponedUntil until: WallTime, _ postponement: Duration, _ now: Moment) -> Wait {
        // The wall clock may have been set: a postponement never grows beyond what it was.
        let longest = postponement + RenewalPolicy.postponementSpread.upperBound
        let left = min(max(until - now.wall, .zero), longest)
        guard left > .zero else { return .due }
        return .postponed(until: Retry.Time(now.uptime + left, now), after: "no session handler could help")
    }

    /// A replay asked nobody, and nothing came of it: a postponement that was stored beside its intent goes on.
    mutating func resume(postponedUntil until: WallTime, _ postponement: Duration, _ now: Moment) {
        guard case .resting(.backoff) = phase else { return }
        phase = .resting(Self.wait(postponedUntil: until, postponement, now))
    }

    // MARK: Time

    /// A postponement that is over is one no more.
    mutating func wake(_ now: Moment) {
        if case .resting(.postponed(let until, _)) = phase, until.uptime <= now.uptime { phase = .resting(.due) }
    }

    /// When the next attempt is due by itself; nothing while one is under way.
    func due(_ session: Session, _ now: Moment) -> WallTime? {
        guard case .resting(let wait) = phase, isOpen(to: session) else { return nil }
        switch wait {
        case .postponed(let until, _): return now.wall(at: until.uptime)
        case .replay, .backoff: return retry.time.map { now.wall(at: $0.uptime) }
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
        if case .resting(.postponed(let until, let words)) = phase {
            phase = .resting(.postponed(until: Retry.Time(until.uptime, now), after: words))
        }
    }

    /// The network may have come back. A replay does not wait for it.
    mutating func hurry(_ now: Moment, using random: inout Randomness) {
        if case .resting(.backoff) = phase { retry.hurry(now, using: &random) }
    }

    // MARK: Beginning

    /// A round of questions is being begun for this attempt.
    mutating func ask(_ attempt: Attempt, _ now: Moment) {
        phase = .asking(attempt)
        replays.close()
        retry.begin(now)
    }

    /// The attempt that is made now, with what is at hand.
    func attempt(_ attempt: Attempt) -> Try {
        Try(attempt: attempt, given: kept?.given, round: kept?.round, isReplay: isReplaying)
    }

    /// The intent of an attempt is being noted.
    mutating func note(_ next: Try, until note: Ledger.Note, _ now: Moment) {
        // A handler that was asked has taken its time.
        if isResting { retry.begin(now) }
        phase = .noting(next, note)
    }

    /// The intent is noted: the request leaves now.
    mutating func send(_ next: Try, _ now: Moment) {
        if next.isReplay { replays.sent(now) }
        phase = .sending(next, since: now.uptime)
    }

    /// A token that the API rejected is being replaced.
    mutating func replaceRejected(_ now: Moment) {
        lastReplacedRejected = now.uptime
    }

    // MARK: Outcomes

    /// The request that this outcome belongs to, and when it was sent; nothing when nobody waits for it any more.
    func sent(_ attempt: Attempt) -> (tried: Try, at: Uptime)? {
        guard case .sending(let tried, let since) = phase, tried.attempt == attempt else { return nil }
        return (tried, since)
    }

    /// By when the request under way has to leave, where it is a replay inside the provider's grace.
    var departure: Uptime? {
        guard case .sending(let tried, let since) = phase, tried.isReplay else { return nil }
        return replays.departure(since)
    }

    /// The outcome is being made durable.
    mutating func store() {
        phase = .storing(nil)
    }

    /// A new refresh token is being made durable, which came without a usable access token. The one that was sent is spent, and
    /// is not sent again; what a handler gave has been taken, too.
    mutating func storeSuccessor(_ tried: Try, _ failure: Unavailability) {
        var (tried, failure) = (tried, failure)
        (tried.given, tried.round) = (nil, nil)
        failure.ambiguous = false
        phase = .storing(Shortfall(tried: tried, failure: failure))
        replays.close()
    }

    /// What was wrong with the answer whose refresh token is being made durable.
    var shortfall: Shortfall? {
        if case .storing(let shortfall) = phase { shortfall } else { nil }
    }

    /// The provider granted a token, and it is written: nothing of the failures before it counts any more.
    mutating func succeeded() {
        var next = Renewal()
        (next.retry, next.lastReplacedRejected, next.replays) = (retry, lastReplacedRejected, replays.closed)
        next.retry.reset()
        self = next
    }

    /// What was granted or found out elsewhere has made the attempt pointless.
    mutating func abandon() {
        self = Renewal()
    }

    /// The provider wants a new credential: there is nothing to schedule, and whoever asks again asks in vain for a while.
    ///
    /// - Parameter isAwaited: a caller of `session.renew` is told of it.
    mutating func reauthenticationDemanded(_ refusal: Refusal, isAwaited: Bool, _ now: Moment) {
        var next = Renewal()
        (next.retry, next.told) = (retry, told)
        next.retry.reset()
        self = next
        lastError = "reauthenticationRequired: " + refusal.message
        if isAwaited { tell(refusal, now) }
    }

    /// A transient failure: says what callers are told, with how long the next attempt waits.
    ///
    /// - Parameters:
    ///   - isAwaited: a caller of `session.renew` is told of it.
    ///   - isReauthenticationPresumed: the provider has refused for so long that a new credential is wanted.
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
    ) -> Refusal {
        var refusal =
            isReauthenticationPresumed
            ? .reauthenticationPresumed(failure.message) : Refusal(.providerUnavailable, failure.message)
        lastError = "\(refusal.kind.rawValue): \(refusal.message)"
        if failure.ambiguous, let sentAt { replays.lost(sentAt: sentAt, now) }
        let delay: Duration
        if let replay = replays.delay(isAmbiguous: failure.ambiguous, now, using: &random) {
            delay = replay
            retry.failed(after: delay, now)
            phase = .resting(.replay)
        } else {
            replays.close()
            delay = retry.failed(retryAfter: failure.retryAfter, left: left, now, using: &random)
            phase = .resting(.backoff(keeping: tried.kept(after: failure)))
        }
        refusal.retryAfter = delay
        if isAwaited { tell(refusal, now) }
        return refusal
    }

    /// Nobody could help: nobody is asked again before `until`.
    mutating func postpone(until: Retry.Time, after words: String) {
        phase = .resting(.postponed(until: until, after: words))
        lastError = "unableToRetrieveAuthToken: " + words
    }

    /// Nothing came of it, and nothing is to be tried by itself.
    mutating func rest() {
        phase = .resting(.scheduled)
    }

    /// Callers of `session.renew` are told this, now and for the next ten seconds: it makes one attempt in that time while it
    /// fails, whatever the failure is.
    mutating func tell(_ refusal: Refusal, _ now: Moment) {
        told = ToldFailure(refusal: refusal, at: now.uptime)
    }

    // MARK: What can be seen

    /// Whether something may happen to this session by itself: while the provider demands a new credential, only what a
    /// handler gave is tried on.
    func isOpen(to session: Session) -> Bool {
        guard session.stored.token != nil else { return false }
        let isDemanded = session.stored.reauthenticationPending && !session.stored.isReauthenticationPresumed
        guard isDemanded else { return true }
        return switch phase {
        case .resting(.scheduled), .resting(.due), .resting(.postponed), .resting(.backoff(keeping: nil)): false
        case .resting(.replay), .resting(.backoff), .asking, .noting, .sending, .storing: true
        }
    }

    var isResting: Bool {
        if case .resting = phase { true } else { false }
    }

    /// Whether a request is on its way to the provider, or about to be.
    var isBusy: Bool {
        switch phase {
        case .noting, .sending, .storing: true
        case .resting, .asking: false
        }
    }

    /// Whether the next attempt sends the same refresh token again, whoever begins it.
    var isReplaying: Bool {
        if case .resting(.replay) = phase { true } else { false }
    }

    /// Whether a request is out whose outcome nobody knows.
    var isOutcomeUnknown: Bool { replays.isOpen }

    /// What a handler gave for the next attempt.
    var kept: Kept? {
        if case .resting(.backoff(let kept)) = phase { kept } else { nil }
    }

    /// Until when nobody is asked, and why.
    var postponement: (until: Retry.Time, words: String)? {
        if case .resting(.postponed(let until, let words)) = phase { (until, words) } else { nil }
    }

    /// Until when no renewal is made because of what the provider said.
    var demandedUntil: Retry.Time? { retry.isDemanded ? retryAt : nil }

    /// When the retry of a failure is due.
    var retryAt: Retry.Time? {
        switch phase {
        case .resting(.replay), .resting(.backoff): retry.time
        case .resting(.scheduled), .resting(.postponed), .resting(.due), .asking, .noting, .sending, .storing: nil
        }
    }

    /// What the last caller of `session.renew` was told, while the next one is told the same.
    func refusalToRepeat(_ now: Moment) -> Refusal? {
        guard let told, now.uptime - told.at < RenewalPolicy.attemptSpacing else { return nil }
        var refusal = told.refusal
        refusal.retryAfter = RenewalPolicy.attemptSpacing - (now.uptime - told.at)
        return refusal
    }

    /// Whether a rejected token was replaced a moment ago.
    func hasReplacedJustNow(_ now: Moment) -> Bool {
        lastReplacedRejected.map { now.uptime - $0 < RenewalPolicy.attemptSpacing } ?? false
    }

    /// What handlers gave, and is still of use.
    var secrets: [SecretRef] {
        switch phase {
        case .resting(.backoff(let kept?)): [kept.given.secret]
        case .noting(let next, _), .sending(let next, _): next.given.map { [$0.secret] } ?? []
        case .resting, .asking, .storing: []
        }
    }
}

extension Renewal.Try {
    /// What is used again by the retry: not what may have been spent.
    fileprivate func kept(after failure: Unavailability) -> Renewal.Kept? {
        guard let given, !(given.isSpentByUse && failure.ambiguous) else { return nil }
        return Renewal.Kept(given: given, round: round)
    }
}
