/// The sign-ins that are not complete: the one request that is under way, the device sign-in whose codes are shown, and grants
/// of which nobody knows yet whose they are.
///
/// | the exchange | until | then |
/// |---|---|---|
/// | asks the handlers | a handler gives a token; no handler can help | is sent; is refused |
/// | is sent | the provider grants it; it does not | is granted; is refused, or asks the next handler |
/// | is granted | the persistence queue takes a change | the persistence queue makes it durable |
///
/// Who is wanted is fixed when a sign-in begins. Only the write of what was granted changes who is signed in.
struct SignIn: Hashable, Sendable {
    private(set) var exchange: Exchange?
    private(set) var device: DeviceFlow?
    /// Grants of sign-ins that failed before their user was known, the oldest first. The next attempt of the same credential goes
    /// on with its grant.
    private var grants: [KeptGrant] = []
    /// Why the last device sign-in came to nothing, or its last poll to no answer, until another one begins.
    private(set) var deviceError: String?

    private struct KeptGrant: Hashable, Sendable {
        let secrets: SecretRef
        var endsAt: Uptime
    }

    /// How long a grant waits for the next attempt of its credential, or for the next poll.
    static let longestGrant: Duration = .seconds(3_600)
    /// The grants that are kept at most, that of a device sign-in not counted.
    static let mostGrants = 2

    /// One request to the provider that may sign a user in: a sign-in of a caller, or a poll.
    struct Exchange: Hashable, Sendable {
        let attempt: Attempt
        /// The caller that brought the credential; `nil` for a poll.
        var request: RequestID?
        var uid: UInt32 = 0
        /// The user whom the app wants, in the app's own words.
        var externalUserId: ExternalUserId?
        /// The only user who may come of it, if there is one.
        var wanted: Identity?
        var stage: Stage
        /// The caller may not sign in any more: no second request is sent, and what is granted is revoked.
        fileprivate(set) var isWithdrawn = false
        /// What has been granted for it so far, or for an earlier attempt of its credential.
        fileprivate(set) var grant: SecretRef?
        /// The write of the grant, which the provider's next request waits for.
        fileprivate(set) var heldUntil: PersistenceQueue.Update?

        enum Stage: Hashable, Sendable {
            case asking
            /// `round`: the round of questions that led to it, if there was one.
            case sent(given: SecretRef?, round: HandlerRounds.Round?)
            case granted(Granted)
        }

        var isPoll: Bool { request == nil }
    }

    // MARK: Start

    /// Takes over what a record has.
    mutating func resume(
        _ device: DeviceFlow?,
        grants stored: [StoredPartialGrant],
        _ secrets: [SecretRef],
        writtenAt: WallTime,
        _ now: Moment
    ) {
        self.device = device
        for (stored, ref) in zip(stored, secrets) {
            let endsAt = now.uptime + min(stored.expiresAt.left(writtenAt: writtenAt, now), Self.longestGrant)
            if stored.isOfApproval, device != nil {
                self.device?.keep(ref, until: endsAt, now)
            } else {
                grants.append(KeptGrant(secrets: ref, endsAt: endsAt))
            }
        }
    }

    // MARK: The exchange

    mutating func begin(_ exchange: Exchange) {
        self.exchange = exchange
    }

    /// A handler gave what was missing; `nil` when no exchange asks for it any more.
    mutating func send(_ attempt: Attempt, given: SecretRef, by round: HandlerRounds.Round) -> Exchange? {
        guard exchange?.attempt == attempt, exchange?.stage == .asking else { return nil }
        exchange?.stage = .sent(given: given, round: round)
        return exchange
    }

    /// The provider refused what a handler gave: the next handler is asked.
    mutating func askAgain() {
        exchange?.stage = .asking
    }

    mutating func withdraw() {
        exchange?.isWithdrawn = true
    }

    mutating func granted(_ granted: Granted) {
        exchange?.stage = .granted(granted)
    }

    /// Ends the exchange whose grant can be written now.
    mutating func takeGranted() -> (exchange: Exchange, granted: Granted)? {
        guard let exchange, let granted else { return nil }
        self.exchange = nil
        return (exchange, granted)
    }

    mutating func end() {
        exchange = nil
    }

    // MARK: Grants without a user

    /// The credential of the exchange was spent by an earlier attempt, which brought this grant.
    mutating func goOn(with grant: SecretRef, _ now: Moment) {
        exchange?.grant = grant
        // The caller has come back for it: its time begins anew.
        guard let index = grants.firstIndex(where: { $0.secrets == grant }) else { return }
        grants[index].endsAt = now.uptime + Self.longestGrant
    }

    /// Keeps what was granted for the exchange, in the place of what was kept for it before; `update` writes it.
    ///
    /// - Returns: a grant for which there is no space any more.
    mutating func keep(_ grant: SecretRef, until update: PersistenceQueue.Update, _ now: Moment) -> SecretRef? {
        guard let current = exchange else { return grant }
        let endsAt = now.uptime + Self.longestGrant
        exchange?.grant = grant
        exchange?.heldUntil = update
        if current.isPoll {
            device?.keep(grant, until: endsAt, now)
            return nil
        }
        grants.removeAll { $0.secrets == current.grant }
        grants.append(KeptGrant(secrets: grant, endsAt: endsAt))
        return grants.count > Self.mostGrants ? grants.removeFirst().secrets : nil
    }

    /// The grant has been written: the exchange goes on.
    mutating func release() {
        exchange?.heldUntil = nil
    }

    /// Forgets one grant; returns whether it was kept.
    mutating func dropGrant(_ grant: SecretRef?) -> Bool {
        guard let grant else { return false }
        let before = grants.count
        grants.removeAll { $0.secrets == grant }
        return device?.dropGrant(grant) ?? false || grants.count < before
    }

    /// Forgets the grants that have waited too long, and returns them. A grant in use ends with its exchange.
    mutating func expireGrants(_ now: Moment) -> [SecretRef] {
        let over = waiting.filter { $0.endsAt <= now.uptime }
        grants.removeAll(where: over.contains)
        return over.map(\.secrets)
    }

    /// Forgets every grant, and returns them: the provider is told.
    mutating func dropGrants() -> [SecretRef] {
        defer { grants = [] }
        return grantsInUse
    }

    private var waiting: [KeptGrant] { grants.filter { $0.secrets != exchange?.grant } }

    // MARK: The device sign-in

    /// The provider gave codes: they are shown from now on.
    mutating func show(_ device: DeviceFlow) {
        (self.device, deviceError) = (device, nil)
    }

    /// Begins a poll.
    ///
    /// - Returns: the codes to poll with.
    mutating func poll(_ attempt: Attempt, _ now: Moment) -> SecretRef? {
        guard exchange == nil, device?.poll(now) == true, let device else { return nil }
        exchange = Exchange(
            attempt: attempt,
            externalUserId: device.stored.externalUserId,
            wanted: device.stored.wanted,
            stage: .sent(given: nil, round: nil),
            grant: device.grant
        )
        return device.codes
    }

    /// A poll brought no decision.
    ///
    /// - Returns: whether the record has to change.
    mutating func pollUndecided(tooFast: Bool, _ now: Moment) -> Bool {
        device?.pollUndecided(tooFast: tooFast, now)
        deviceError = nil
        return tooFast
    }

    /// A poll brought no usable answer.
    ///
    /// - Returns: whether the record has to change.
    mutating func pollFailed(_ failure: Unavailability, _ now: Moment) -> Bool {
        device?.pollFailed(failure, now)
        deviceError = failure.message
        return failure.retryAfter != nil
    }

    /// Ends the device sign-in, and returns a grant of it that nobody uses any more.
    mutating func endDevice(because reason: String? = nil) -> SecretRef? {
        defer { (device, deviceError) = (nil, reason) }
        return device?.grant
    }

    /// Forgets why the last device sign-in came to nothing: a user is signed in.
    mutating func forgetDeviceError() { deviceError = nil }

    /// The wall clock was set, or the machine resumed. Returns whether the record has to change.
    mutating func clockJumped(_ now: Moment) -> Bool { device?.clockJumped(now) ?? false }

    /// The network may have come back.
    mutating func hurry(_ now: Moment, using random: inout Randomness) { device?.hurry(now, using: &random) }

    // MARK: What can be seen

    /// The exchange under way, if this is the attempt that it waits for.
    func sent(_ attempt: Attempt) -> Exchange? {
        guard let exchange, exchange.attempt == attempt, case .sent = exchange.stage else { return nil }
        return exchange
    }

    func isSent(_ attempt: Attempt) -> Bool { sent(attempt) != nil }

    /// What was granted, and is not being written yet.
    var granted: Granted? {
        if case .granted(let granted)? = exchange?.stage { granted } else { nil }
    }

    /// Whether a request is on its way to the provider, or its grant waits to be written.
    var isBusy: Bool { exchange.map { $0.stage != .asking } ?? false }

    var isPolling: Bool { exchange?.isPoll ?? false }

    /// Whether the exchange may turn out to be this user's. A poll does not count: while one is out, the provider is told of no
    /// sign-out at all.
    func mayBe(_ identity: Identity) -> Bool {
        guard let exchange, !exchange.isPoll else { return false }
        return exchange.wanted.map(identity.isSameUser) ?? true
    }

    /// Every grant whose user is not known.
    var grantsInUse: [SecretRef] { grants.map(\.secrets) + [device?.grant].compactMap(\.self) }

    /// When the next grant has waited too long.
    var grantsEndAt: Uptime? { waiting.map(\.endsAt).min() }

    /// What is sealed beside the session.
    func beside(_ now: Moment, withCodes: Bool) -> PersistenceQueue.Beside {
        var kept = grants.map { grant in
            (StoredPartialGrant(expiresAt: now.wall(at: grant.endsAt), isOfApproval: false), grant.secrets)
        }
        if let device, let grant = device.grant {
            kept.append((StoredPartialGrant(expiresAt: device.stored.expiresAt, isOfApproval: true), grant))
        }
        let shown = withCodes ? device : nil
        return PersistenceQueue.Beside(approval: shown?.stored, codes: shown?.codes, partialGrants: kept)
    }

    /// Every secret that a sign-in still needs.
    var secrets: [SecretRef] {
        let ofExchange: [SecretRef] =
            switch exchange?.stage {
            case .sent(let given?, _): [given]
            case .granted(let granted): [granted.secrets]
            case .asking, .sent(nil, _), nil: []
            }
        return ofExchange + grantsInUse + [device?.codes].compactMap(\.self)
    }
}

extension WallTime {
    /// What is left until this time, which a record holds. A wrong clock makes that no longer than it was when the record was
    /// written, and never ends it: where the clock says that the time has passed, as much is left as there was then.
    func left(writtenAt: WallTime, _ now: Moment) -> Duration {
        let (byClock, whenWritten) = (self - now.wall, self - writtenAt)
        return byClock > .zero ? min(byClock, whenWritten) : max(whenWritten, .zero)
    }
}
