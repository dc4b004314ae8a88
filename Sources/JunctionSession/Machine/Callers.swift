/// Everybody who waits for an answer, in order of arrival: one entry each, from the request to its one answer.
///
/// Nothing else answers. While an event is handled an entry is given something else to wait for, or its answer; the answers
/// leave when the event is over (`SessionMachine.answerCallers`), so that each tells of the state after it.
struct Callers: Hashable, Sendable {
    private(set) var list: [Caller] = []

    struct Caller: Hashable, Sendable {
        let request: CallerRequest
        /// Who is counted for the calls to the provider that come of it.
        let uid: UInt32
        var wait: Wait
    }

    enum Wait: Hashable, Sendable {
        /// For its turn to sign somebody in.
        case turn(Wish)
        /// For the credential that its app is being asked for.
        case credential(ExternalUserId)
        /// For the session of the credential that it brought: granted by the provider, and written.
        case session
        /// For the write of the codes that it asked for.
        case codes(SecretRef, Ledger.Note)
        /// For a person who approves on another screen.
        case approval
        /// For the outcome of a renewal.
        case renewal
        /// For an access token, or the credential of an API call. A call causes one renewal at most.
        case token(hasHadRenewal: Bool)
        /// For the write of a sign-out.
        case signOut(Reply)
        /// For a write, to be told this then.
        case note(Ledger.Note, Reply)
        /// For nothing any more.
        case answer(Reply)
    }

    /// What a sign-in or an identify call begins with when its turn comes.
    enum Wish: Hashable, Sendable {
        case signIn(CredentialFacts)
        case identify(ExternalUserId)
        /// The app has answered: the credential to identify with.
        case identifyWith(ExternalUserId, CredentialFacts)

        fileprivate var facts: CredentialFacts? {
            switch self {
            case .signIn(let facts), .identifyWith(_, let facts): facts
            case .identify: nil
            }
        }
    }

    // MARK: Waiting

    mutating func add(_ request: CallerRequest, by uid: UInt32, waitingFor wait: Wait) {
        list.append(Caller(request: request, uid: uid, wait: wait))
    }

    /// Lets a caller wait for something else.
    mutating func move(_ id: RequestID, to wait: Wait) {
        guard let index = list.firstIndex(where: { $0.request.id == id }) else { return }
        list[index].wait = wait
    }

    /// Lets callers wait for something else; those for whom there is nothing go on waiting as they do.
    mutating func move(_ next: (Caller) -> Wait?) {
        for (index, caller) in list.enumerated() { list[index].wait = next(caller) ?? caller.wait }
    }

    // MARK: Answers

    /// Whoever is meant is told why it comes to nothing; after a write, if one is named.
    mutating func refuse(_ refusal: Refusal, after note: Ledger.Note? = nil, where isMeant: (Wait) -> Bool) {
        for index in list.indices where isMeant(list[index].wait) {
            let reply = list[index].request.refused(refusal)
            list[index].wait = note.map { .note($0, reply) } ?? .answer(reply)
        }
    }

    mutating func refuse(_ id: RequestID, _ refusal: Refusal) {
        guard let caller = list.first(where: { $0.request.id == id }) else { return }
        move(id, to: .answer(caller.request.refused(refusal)))
    }

    /// A sign-out overtakes everybody but who signs out, too.
    mutating func overtake() {
        refuse(.overtaken) { wait in
            switch wait {
            case .signOut, .answer: false
            default: true
            }
        }
    }

    /// Whoever's wait is over, with the answer.
    mutating func takeAnswered(_ answer: (Caller) -> Reply?) -> [Reply] {
        var replies: [Reply] = []
        list.removeAll { caller in
            guard let reply = answer(caller) else { return false }
            replies.append(reply)
            return true
        }
        return replies
    }

    // MARK: Turns

    /// Whose turn it is: an app that has answered is first, and one app is asked at a time.
    var next: (caller: Caller, wish: Wish)? {
        var first: (Caller, Wish)?
        for caller in list {
            guard case .turn(let wish) = caller.wait else { continue }
            switch wish {
            case .identifyWith: return (caller, wish)
            case .identify where asksApp: break
            case .signIn, .identify: first = first ?? (caller, wish)
            }
        }
        return first
    }

    // MARK: What can be seen

    /// Whether an app is being asked for a credential.
    private var asksApp: Bool {
        list.contains { if case .credential = $0.wait { true } else { false } }
    }

    /// The user whom this call wants, if its app is being asked for a credential.
    func wanted(by request: IdentifyRequest) -> ExternalUserId? {
        guard let caller = list.first(where: { $0.request == .identify(request) }),
            case .credential(let user) = caller.wait
        else { return nil }
        return user
    }

    /// Whether anybody waits to sign in.
    var wantSignIn: Bool {
        list.contains { caller in
            switch caller.wait {
            case .turn, .credential: true
            default: false
            }
        }
    }

    /// Whether a credential that waits for its turn may turn out to be this user's.
    func mayBe(_ identity: Identity) -> Bool {
        list.contains { caller in
            guard case .turn(let wish) = caller.wait, let facts = wish.facts else { return false }
            return facts.subject.mayBe(identity)
        }
    }

    /// The API keys that came with sign-ins that wait for their turn.
    var secrets: [SecretRef] {
        list.compactMap { caller in
            guard case .turn(let wish) = caller.wait else { return nil }
            return wish.facts?.key
        }
    }
}

/// What a caller asked for, by which it is told.
enum CallerRequest: Hashable, Sendable {
    /// A sign-in, a sign-out or `session.renew`.
    case change(ChangeRequest)
    case identify(IdentifyRequest)
    case token(TokenRequest, minimumValidity: Duration)
    case authorization(AuthorizationRequest)
    /// The API rejected the credential of this generation.
    case replacement(AuthorizationRequest, of: UInt64)

    var id: RequestID {
        switch self {
        case .change(let request): request.id
        case .identify(let request): request.id
        case .token(let request, _): request.id
        case .authorization(let request), .replacement(let request, _): request.id
        }
    }

    func refused(_ refusal: Refusal) -> Reply {
        switch self {
        case .change(let request): .change(request, refusal)
        case .identify(let request): .identify(request, .failure(refusal))
        case .token(let request, _): .token(request, .failure(refusal))
        case .authorization(let request), .replacement(let request, _): .authorization(request, .failure(refusal))
        }
    }

    /// It is done; nothing for one that changes nothing.
    ///
    /// - Parameter outcome: what an identify call is told.
    func done(_ outcome: IdentifyOutcome = .unchanged) -> Reply? {
        switch self {
        case .change(let request): .change(request, nil)
        case .identify(let request): .identify(request, .success(outcome))
        case .token, .authorization, .replacement: nil
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
