/// The incomplete sign-ins: the one request under way, the device sign-in whose codes are shown, and grants whose user
/// is not known yet.
///
/// | the exchange | until | then |
/// |---|---|---|
/// | asks the handlers | a handler gives a token; no handler can help | sent; refused |
/// | sent | the provider grants a session; it does not | granted; refused, or asks the next handler |
/// | granted | the persistence queue accepts a change | the persistence queue writes it |
///
/// The wanted user is fixed when a sign-in begins. Only the write of a granted session changes who is signed in.
struct SignIn: Hashable, Sendable {
    private(set) var exchange: Exchange?
    var device: DeviceFlow?
    /// The grants of sign-ins that failed before their user was known, the oldest first. The next attempt with the same
    /// credential continues with its grant.
    private var grants: [KeptGrant] = []
    /// The reason why the last device sign-in ended, until another one begins or a user is signed in.
    private(set) var deviceError: String?

    private struct KeptGrant: Hashable, Sendable {
        let secrets: SecretRef
        var endsAt: Uptime
    }

    /// The time for which a grant waits for the next attempt with its credential, or for the next poll. The longest pause
    /// that a provider may demand between two attempts is half of it.
    static let longestGrant: Duration = RenewalPolicy.believableRetryAfter.upperBound * 2
    /// The largest number of kept grants, without that of a device sign-in.
    static let mostGrants = 2

    /// One request to the provider that may sign a user in: a caller's sign-in, or a poll.
    struct Exchange: Hashable, Sendable {
        let attempt: AttemptID
        /// The caller that brought the credential. `nil` for a poll.
        var request: RequestID?
        var uid: UInt32 = 0
        var externalUserId: ExternalUserId?
        /// The only user whom this exchange may sign in, if there is one.
        var wanted: Identity?
        var stage: Stage
        /// Whether the caller has lost the right to sign in. No second request is sent, and a grant is revoked.
        fileprivate(set) var isWithdrawn = false
        /// The partial grant of this exchange, or of an earlier attempt with its credential.
        fileprivate(set) var grant: SecretRef?
        /// The write of the grant. The provider's next request waits for it.
        fileprivate(set) var heldUntil: PersistenceQueue.Update?

        enum Stage: Hashable, Sendable {
            case asking(HandlerRounds.Round)
            /// `round`: the round of questions that led to it, if there was one.
            case sent(handlerSecret: SecretRef?, round: HandlerRounds.Round?)
            case granted(Granted)
        }

        var isPoll: Bool { request == nil }
    }

    // MARK: Start

    /// Takes over the device sign-in and the grants of a record.
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

    mutating func ask(_ round: HandlerRounds.Round) {
        exchange?.stage = .asking(round)
    }

    mutating func send(_ round: HandlerRounds.Round, handlerSecret: SecretRef) {
        exchange?.stage = .sent(handlerSecret: handlerSecret, round: round)
    }

    mutating func withdraw() {
        exchange?.isWithdrawn = true
    }

    mutating func granted(_ granted: Granted) {
        exchange?.stage = .granted(granted)
    }

    /// Ends the exchange whose session can be written now.
    mutating func takeGranted() -> (exchange: Exchange, granted: Granted)? {
        guard let exchange, let granted else { return nil }
        self.exchange = nil
        return (exchange, granted)
    }

    mutating func end() {
        exchange = nil
    }

    // MARK: Grants without a user

    /// Continues with the grant of an earlier attempt, which has spent the credential.
    mutating func continueExchange(with grant: SecretRef, _ now: Moment) {
        exchange?.grant = grant
        // The caller has returned for the grant, so its time begins again.
        guard let index = grants.firstIndex(where: { $0.secrets == grant }) else { return }
        grants[index].endsAt = now.uptime + Self.longestGrant
    }

    /// Keeps a partial grant for the exchange and replaces its earlier one. `update` is the write of the grant.
    ///
    /// - Returns: a grant that exceeds the limit and has to be revoked.
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

    mutating func release() {
        exchange?.heldUntil = nil
    }

    /// Forgets one grant. Returns whether it was kept.
    mutating func dropGrant(_ grant: SecretRef?) -> Bool {
        guard let grant else { return false }
        let before = grants.count
        grants.removeAll { $0.secrets == grant }
        return device?.dropGrant(grant) ?? false || grants.count < before
    }

    /// Forgets and returns the grants that have expired. A grant in use ends with its exchange.
    mutating func expireGrants(_ now: Moment) -> [SecretRef] {
        let over = waiting.filter { $0.endsAt <= now.uptime }
        grants.removeAll(where: over.contains)
        return over.map(\.secrets)
    }

    /// Forgets and returns every grant, so that the caller can revoke them.
    mutating func dropGrants() -> [SecretRef] {
        defer { grants = [] }
        return grantsInUse
    }

    private var waiting: [KeptGrant] { grants.filter { $0.secrets != exchange?.grant } }

    // MARK: The device sign-in

    mutating func show(_ device: DeviceFlow) {
        (self.device, deviceError) = (device, nil)
    }

    /// Begins a poll, and returns its codes.
    mutating func poll(_ attempt: AttemptID, _ now: Moment) -> SecretRef? {
        guard exchange == nil, device?.poll(now) == true, let device else { return nil }
        exchange = Exchange(
            attempt: attempt,
            externalUserId: device.stored.externalUserId,
            wanted: device.stored.wanted,
            stage: .sent(handlerSecret: nil, round: nil),
            grant: device.grant
        )
        return device.codes
    }

    /// Ends the device sign-in. Returns its grant, which is no longer used.
    mutating func endDevice(because reason: String? = nil) -> SecretRef? {
        defer { (device, deviceError) = (nil, reason) }
        return device?.grant
    }

    /// Forgets the error of the last device sign-in, because a user is signed in.
    mutating func forgetDeviceError() { deviceError = nil }

    // MARK: Queries

    /// Returns the exchange under way if it waits for this attempt.
    func sent(_ attempt: AttemptID) -> Exchange? {
        guard let exchange, exchange.attempt == attempt, case .sent = exchange.stage else { return nil }
        return exchange
    }

    /// The granted session that is not being written yet.
    var granted: Granted? {
        if case .granted(let granted)? = exchange?.stage { granted } else { nil }
    }

    var round: HandlerRounds.Round? {
        if case .asking(let round)? = exchange?.stage { round } else { nil }
    }

    /// Whether a request is in flight, or its granted session waits for the write.
    var isBusy: Bool { exchange != nil && round == nil }

    var isPolling: Bool { exchange?.isPoll ?? false }

    /// Whether the exchange may turn out to be this user's. A poll does not count, because no revocation is sent while
    /// a poll is in flight.
    func mayBe(_ identity: Identity) -> Bool {
        guard let exchange, !exchange.isPoll else { return false }
        return exchange.wanted.map(identity.isSameUser) ?? true
    }

    var grantsInUse: [SecretRef] { grants.map(\.secrets) + [device?.grant].compactMap(\.self) }

    var grantsEndAt: Uptime? { waiting.map(\.endsAt).min() }

    /// Returns the incomplete sign-ins for the next write.
    func incompleteSignIns(_ now: Moment, withCodes: Bool) -> PersistenceQueue.IncompleteSignIns {
        var kept = grants.map { grant in
            (StoredPartialGrant(expiresAt: now.wall(at: grant.endsAt), isOfApproval: false), grant.secrets)
        }
        if let device, let grant = device.grant {
            kept.append((StoredPartialGrant(expiresAt: device.stored.expiresAt, isOfApproval: true), grant))
        }
        let shown = withCodes ? device : nil
        return PersistenceQueue.IncompleteSignIns(approval: shown?.stored, codes: shown?.codes, partialGrants: kept)
    }

    var secrets: [SecretRef] {
        let ofExchange: [SecretRef] =
            switch exchange?.stage {
            case .sent(let handlerSecret?, _): [handlerSecret]
            case .granted(let granted): [granted.secrets]
            case .asking, .sent(nil, _), nil: []
            }
        return ofExchange + grantsInUse + [device?.codes].compactMap(\.self)
    }
}

extension WallTime {
    /// Returns this stored end of a pause, moved so that a wrong clock does not make the rest longer than it was when the
    /// record was written.
    func limited(writtenAt: WallTime, _ now: Moment) -> WallTime { now.wall + min(self - now.wall, self - writtenAt) }

    /// Returns the time that is left until this stored time: at most as much as at the write of the record. If the clock
    /// says that the time has passed, it may be wrong, and the whole time since the write is left.
    func left(writtenAt: WallTime, _ now: Moment) -> Duration {
        let (byClock, whenWritten) = (self - now.wall, self - writtenAt)
        return byClock > .zero ? min(byClock, whenWritten) : max(whenWritten, .zero)
    }
}
