/// Signing in: who waits for a turn, which app is being asked, and the one exchange under way.
///
/// | the exchange | until | then |
/// |---|---|---|
/// | asks the handlers | one gives a token; nobody could | is sent; is refused |
/// | is sent | the provider grants it; it does not | is granted; is refused, or asks the next handler |
/// | is granted | the ledger's slot is free | the ledger makes it durable |
struct SignIn: Hashable, Sendable {
    /// Sign-ins and identify calls that wait for their turn, in order of arrival.
    private(set) var queue: [Entry] = []
    /// The identify call whose app is being asked for a credential: at most one.
    private(set) var question: Question?
    /// The exchange under way: at most one.
    private(set) var exchange: Exchange?

    /// Whom the outcome is for.
    enum Origin: Hashable, Sendable {
        case signIn(ChangeRequest)
        case identify(IdentifyRequest, externalUserId: ExternalUserId, outcome: IdentifyOutcome)
        /// A person, who approves on another screen; the identify calls that wait for it.
        case approval(externalUserId: ExternalUserId?, callers: [IdentifyRequest])

        /// The request that brought a credential; an approval brings none.
        var id: RequestID? {
            switch self {
            case .signIn(let request): request.id
            case .identify(let request, _, _): request.id
            case .approval: nil
            }
        }

        func refused(_ refusal: Refusal) -> [Reply] {
            switch self {
            case .signIn(let request): [.change(request, refusal)]
            case .identify(let request, _, _): [.identify(request, .failure(refusal))]
            case .approval(_, let callers): callers.map { .identify($0, .failure(refusal)) }
            }
        }
    }

    /// A sign-in or identify call that waits for its turn.
    struct Entry: Hashable, Sendable {
        var wish: Wish
        /// Who is counted for the call that comes of it.
        var uid: UInt32

        enum Wish: Hashable, Sendable {
            case signIn(ChangeRequest, CredentialFacts)
            case identify(IdentifyRequest, externalUserId: ExternalUserId)
            /// The app has answered: the credential to identify with.
            case identifyWith(IdentifyRequest, externalUserId: ExternalUserId, CredentialFacts)
        }
    }

    struct Question: Hashable, Sendable {
        var request: IdentifyRequest
        var externalUserId: ExternalUserId
        var uid: UInt32
    }

    /// Only its success changes the standing, in one durable write.
    struct Exchange: Hashable, Sendable {
        var attempt: Attempt
        var origin: Origin
        var uid: UInt32
        /// Whom the credential is for, as far as it says.
        var subject: Identity?
        /// The only user who may come of it, if there is one.
        var expected: Identity?
        var stage: Stage
        /// Whoever asked for it may not any more: what has left is not sent a second time, and what is granted is revoked.
        var isWithdrawn = false
        /// What has been granted for it so far, or for an earlier try of its credential.
        var partialGrant: SecretRef?

        enum Stage: Hashable, Sendable {
            /// A session handler has to give what it is made with.
            case asking
            /// `round`: the handlers' round that led to it, where one did.
            case sent(given: SecretRef?, round: HandlerRounds.Round?)
            case granted(Granted)
        }
    }

    // MARK: Turns

    mutating func enqueue(_ wish: Entry.Wish, by uid: UInt32) {
        queue.append(Entry(wish: wish, uid: uid))
    }

    /// Whoever's turn it is: an identify call that has to ask its app waits while another app is being asked.
    mutating func nextTurn() -> Entry? {
        guard exchange == nil else { return nil }
        let next = queue.firstIndex { entry in
            if case .identify = entry.wish { question == nil } else { true }
        }
        return next.map { queue.remove(at: $0) }
    }

    /// An app is being asked for a credential.
    mutating func ask(_ request: IdentifyRequest, externalUserId: ExternalUserId, by uid: UInt32) {
        question = Question(request: request, externalUserId: externalUserId, uid: uid)
    }

    /// An app has answered, or has not; nothing when it was not asked.
    mutating func answered(_ request: IdentifyRequest) -> Question? {
        guard let asked = question, asked.request == request else { return nil }
        question = nil
        return asked
    }

    /// The credential that an app was asked for is next in turn.
    mutating func resume(_ question: Question, with facts: CredentialFacts) {
        let wish = Entry.Wish.identifyWith(question.request, externalUserId: question.externalUserId, facts)
        queue.insert(Entry(wish: wish, uid: question.uid), at: 0)
    }

    // MARK: The exchange

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
    mutating func askAgain(_ attempt: Attempt) {
        guard exchange?.attempt == attempt else { return }
        exchange?.stage = .asking
    }

    /// Whether an outcome with this number is what is waited for.
    func isSent(_ attempt: Attempt) -> Bool {
        guard let exchange, exchange.attempt == attempt, case .sent = exchange.stage else { return false }
        return true
    }

    /// What has been granted so far is kept under this name.
    mutating func goesOn(with partialGrant: SecretRef) {
        exchange?.partialGrant = partialGrant
    }

    /// Who began the sign-in that is being polled for may do so no more.
    mutating func withdrawPoll() {
        exchange?.isWithdrawn = true
    }

    mutating func granted(_ granted: Granted) {
        exchange?.stage = .granted(granted)
    }

    /// What was granted and waits for the ledger.
    mutating func takeGranted() -> (exchange: Exchange, granted: Granted)? {
        guard let exchange, case .granted(let granted) = exchange.stage else { return nil }
        self.exchange = nil
        return (exchange, granted)
    }

    /// The exchange is over without a session.
    mutating func end() {
        exchange = nil
    }

    /// A sign-out drops everything that was received before it: the replies that are owed.
    mutating func dropAll(_ refusal: Refusal) -> [Reply] {
        let replies = queue.map { $0.wish.refused(refusal) }
        let current = exchange?.origin.refused(refusal) ?? []
        let asked = question.map { [Reply.identify($0.request, .failure(refusal))] } ?? []
        self = SignIn()
        return replies + current + asked
    }

    /// Who asked for these may do so no more: what has not left is dropped, and what has does not count. The replies that are
    /// owed now.
    mutating func withdraw(_ requests: Set<RequestID>, _ refusal: Refusal) -> [Reply] {
        let isWithdrawn = { (entry: Entry) in requests.contains(entry.wish.id) }
        var replies = queue.filter(isWithdrawn).map { $0.wish.refused(refusal) }
        queue.removeAll(where: isWithdrawn)
        if let asked = question?.request, requests.contains(asked.id) {
            question = nil
            replies.append(.identify(asked, .failure(refusal)))
        }
        guard let exchange, let id = exchange.origin.id, requests.contains(id) else { return replies }
        switch exchange.stage {
        case .asking:
            replies += exchange.origin.refused(refusal)
            end()
        case .sent, .granted:
            self.exchange?.isWithdrawn = true
        }
        return replies
    }

    // MARK: What can be seen

    /// Whether nobody signs in, or waits to.
    var isIdle: Bool { exchange == nil && queue.isEmpty && question == nil }

    /// Whether a request is on its way to the provider, or its grant waits to be written.
    var isBusy: Bool {
        guard let exchange else { return false }
        return exchange.stage != .asking
    }

    /// Whether somebody is being waited for who approves on another screen, and the provider is being asked.
    var isPolling: Bool {
        if case .approval? = exchange?.origin { true } else { false }
    }

    /// Whether a sign-in that was received may turn out to be this user's. What comes of an approval is known too late for
    /// that: between two polls the provider is told of sign-outs, and during one it is not.
    func mayBe(_ identity: Identity) -> Bool {
        if !isPolling, let exchange, exchange.subject.map(identity.isSameUser) ?? true { return true }
        return queue.contains { entry in
            switch entry.wish {
            case .signIn(_, let facts), .identifyWith(_, _, let facts): facts.subject.mayBe(identity)
            case .identify: false
            }
        }
    }

    /// What handlers, callers and the provider gave, and is still of use.
    var secrets: [SecretRef] {
        var refs = queue.compactMap(\.wish.key)
        switch exchange?.stage {
        case .sent(let given?, _): refs.append(given)
        case .granted(let granted): refs.append(granted.secrets)
        case .asking, .sent(nil, _), nil: break
        }
        return refs
    }
}

extension SignIn.Entry.Wish {
    fileprivate var id: RequestID {
        switch self {
        case .signIn(let request, _): request.id
        case .identify(let request, _), .identifyWith(let request, _, _): request.id
        }
    }

    func refused(_ refusal: Refusal) -> Reply {
        switch self {
        case .signIn(let request, _): .change(request, refusal)
        case .identify(let request, _), .identifyWith(let request, _, _): .identify(request, .failure(refusal))
        }
    }

    /// The API key that came with it.
    fileprivate var key: SecretRef? {
        switch self {
        case .signIn(_, let facts), .identifyWith(_, _, let facts): facts.key
        case .identify: nil
        }
    }
}

extension CredentialFacts.Subject {
    fileprivate func mayBe(_ identity: Identity) -> Bool {
        switch self {
        case .user(let user): user.isSameUser(as: identity)
        case .unnamed: true
        case .nobody: false
        }
    }
}
