/// The incomplete sign-ins: the one request under way, and the device sign-in whose codes are shown.
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
    /// The reason why the last device sign-in ended, until another one begins or a user is signed in.
    private(set) var deviceError: String?

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

        indirect enum Stage: Hashable, Sendable {
            case asking(HandlerRounds.Round)
            /// `round`: the round of questions that led to it, if there was one.
            case sent(handlerSecret: SecretRef?, round: HandlerRounds.Round?)
            case granted(Granted)
        }

        var isPoll: Bool { request == nil }
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

    // MARK: The device sign-in

    mutating func show(_ device: DeviceFlow) {
        (self.device, deviceError) = (device, nil)
    }

    /// Begins a poll, and returns its codes.
    mutating func poll(_ attempt: AttemptID, _ now: Moment) -> SecretRef? {
        guard exchange == nil, device?.poll(now) == true, let device else { return nil }
        exchange = Exchange(
            attempt: attempt,
            externalUserId: device.externalUserId,
            wanted: device.wanted,
            stage: .sent(handlerSecret: nil, round: nil)
        )
        return device.codes
    }

    mutating func endDevice(because reason: String?) {
        (device, deviceError) = (nil, reason)
    }

    /// Forgets the error of the last device sign-in, because a user is signed in.
    mutating func forgetDeviceError() { deviceError = nil }

    // MARK: Queries

    /// Returns the exchange under way if it waits for this attempt.
    func exchange(awaiting attempt: AttemptID) -> Exchange? {
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

    var secrets: [SecretRef] {
        let ofExchange: [SecretRef] =
            switch exchange?.stage {
            case .sent(let handlerSecret?, _): [handlerSecret]
            case .granted(let granted): [granted.secrets]
            case .asking, .sent(nil, _), nil: []
            }
        return ofExchange + [device?.codes].compactMap(\.self)
    }
}
