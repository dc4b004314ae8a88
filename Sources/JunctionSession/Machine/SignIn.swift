/// The one exchange under way, from the credential to the session that the provider grants.
///
/// | the exchange | until | then |
/// |---|---|---|
/// | asks the handlers | one gives a token; nobody could | is sent; is refused |
/// | is sent | the provider grants it; it does not | is granted; is refused, or asks the next handler |
/// | is granted | the ledger's slot is free | the ledger makes it durable |
struct SignIn: Hashable, Sendable {
    private(set) var exchange: Exchange?

    /// Only its success changes the standing, in one durable write.
    struct Exchange: Hashable, Sendable {
        var attempt: Attempt
        /// Who brought the credential; nobody for a poll: the credential is a person's approval.
        var request: RequestID?
        var uid: UInt32
        /// The user whom the app wants, in the app's own words.
        var externalUserId: ExternalUserId?
        /// The only user who may come of it, if there is one: fixed when it begins.
        var wanted: Identity?
        var stage: Stage
        /// Whoever asked for it may not any more: what has left is not sent a second time, and what is granted is revoked.
        var isWithdrawn = false
        /// What has been granted for it so far, or for an earlier try of its credential.
        var partialGrant: SecretRef?
        /// What has just been granted goes on when this has been written.
        var heldUntil: Ledger.Note?

        enum Stage: Hashable, Sendable {
            /// A session handler has to give what it is made with.
            case asking
            /// `round`: the handlers' round that led to it, where one did.
            case sent(given: SecretRef?, round: HandlerRounds.Round?)
            case granted(Granted)
        }

        var isPoll: Bool { request == nil }
    }

    mutating func begin(_ exchange: Exchange) {
        self.exchange = exchange
    }

    /// A handler gave what was missing; nothing when no exchange asks for it any more.
    mutating func send(_ attempt: Attempt, given: SecretRef, by round: HandlerRounds.Round) -> Exchange? {
        guard exchange?.attempt == attempt, exchange?.stage == .asking else { return nil }
        exchange?.stage = .sent(given: given, round: round)
        return exchange
    }

    /// What a handler gave was refused: the others may have better.
    mutating func askAgain() {
        exchange?.stage = .asking
    }

    /// The exchange under way, if this number is what it waits for.
    func sent(_ attempt: Attempt) -> Exchange? {
        guard let exchange, exchange.attempt == attempt, case .sent = exchange.stage else { return nil }
        return exchange
    }

    func isSent(_ attempt: Attempt) -> Bool { sent(attempt) != nil }

    /// What has been granted so far is kept under this name, and goes on when it has been written.
    mutating func goesOn(with partialGrant: SecretRef, after note: Ledger.Note? = nil) {
        exchange?.partialGrant = partialGrant
        exchange?.heldUntil = note
    }

    /// What was granted is written.
    mutating func release() {
        exchange?.heldUntil = nil
    }

    /// Who asked for it may not any more.
    mutating func withdraw() {
        exchange?.isWithdrawn = true
    }

    mutating func granted(_ granted: Granted) {
        exchange?.stage = .granted(granted)
    }

    /// What was granted and waits for the ledger.
    mutating func takeGranted() -> (exchange: Exchange, granted: Granted)? {
        guard let exchange, let granted else { return nil }
        end()
        return (exchange, granted)
    }

    /// The exchange is over.
    mutating func end() {
        exchange = nil
    }

    // MARK: What can be seen

    /// What was granted, and is not being written yet.
    var granted: Granted? {
        if case .granted(let granted)? = exchange?.stage { granted } else { nil }
    }

    /// Whether a request is on its way to the provider, or its grant waits to be written.
    var isBusy: Bool { exchange.map { $0.stage != .asking } ?? false }

    /// Whether the provider is being asked whether a person has approved.
    var isPolling: Bool { exchange?.isPoll ?? false }

    /// Whether the exchange may turn out to be this user's. What comes of an approval is known too late for that: between two
    /// polls the provider is told of sign-outs, and during one it is not.
    func mayBe(_ identity: Identity) -> Bool {
        guard let exchange, !exchange.isPoll else { return false }
        return exchange.wanted.map(identity.isSameUser) ?? true
    }

    /// What handlers and the provider gave, and is still of use.
    var secrets: [SecretRef] {
        switch exchange?.stage {
        case .sent(let given?, _): [given]
        case .granted(let granted): [granted.secrets]
        case .asking, .sent(nil, _), nil: []
        }
    }
}
