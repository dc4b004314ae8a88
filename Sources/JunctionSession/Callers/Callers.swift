/// The callers that wait for an answer, in order of arrival. Each entry lasts from the request to its one answer.
///
/// While the machine handles an event, it sets what an entry waits for, or its answer.
/// `SessionMachine.answerCallers` sends the answers when the event is over, so each answer describes the state after
/// the event.
struct Callers: Hashable, Sendable {
    private(set) var list: [Caller] = []

    struct Caller: Hashable, Sendable {
        let id: RequestID
        /// The local user whose budget pays for calls to the provider.
        let uid: UInt32
        let kind: Kind
        var wait: Wait

        enum Kind: Hashable, Sendable {
            /// A sign-in, a sign-out, `session.renew`, or the pause before a retry.
            case change
            case identify
            case token(minimumValidity: Duration)
            /// An API call that needs the session's credential.
            case authorization
            /// An API call whose credential of this generation was rejected by the API.
            case replacement(of: UInt64)
        }

        /// Returns the answer of a successful request, or `nil` for a caller that changes nothing.
        func done(_ outcome: IdentifyOutcome = .unchanged) -> Answer? {
            switch kind {
            case .change: .done
            case .identify: .identified(outcome)
            case .token, .authorization, .replacement: nil
            }
        }
    }

    enum Wait: Hashable, Sendable {
        case queued(QueuedSignIn)
        /// The credential that the daemon has requested from the caller's app.
        case credential(ExternalUserId)
        /// The session of the caller's credential: the grant and its write.
        case session
        /// The write of the codes that the caller requested.
        case codes(SecretRef, PersistenceQueue.Update)
        case approval
        case renewal
        /// An access token, or the credential of an API call. A call causes at most one renewal.
        case token(hasHadRenewal: Bool)
        /// The write of a sign-out.
        case signOut(Answer)
        /// The write of the app's name for the signed-in user. If the caller loses its right, the machine restores
        /// `before`.
        case name(ExternalUserId, PersistenceQueue.Update, before: ExternalUserId?)
        case retry(Retry)
        /// The end of a write, after which the caller gets this answer.
        case update(PersistenceQueue.Update, Reply.Outcome)
        /// The caller waits for nothing: the machine sends this answer at the end of the event.
        case answer(Reply.Outcome)
    }

    /// The request parameters with which a sign-in or an identify call begins when its turn comes.
    enum QueuedSignIn: Hashable, Sendable {
        case signIn(CredentialFacts)
        case identify(ExternalUserId)
        /// The app has answered with a credential.
        case identifyWith(ExternalUserId, CredentialFacts)

        fileprivate var facts: CredentialFacts? {
            switch self {
            case .signIn(let facts), .identifyWith(_, let facts): facts
            case .identify: nil
            }
        }
    }

    // MARK: Waiting

    mutating func add(_ id: RequestID, _ kind: Caller.Kind, by uid: UInt32, waitingFor wait: Wait) {
        list.append(Caller(id: id, uid: uid, kind: kind, wait: wait))
    }

    mutating func setWait(_ id: RequestID, to wait: Wait) {
        guard let index = list.firstIndex(where: { $0.id == id }) else { return }
        list[index].wait = wait
    }

    mutating func setWait(_ next: (Caller) -> Wait?) {
        for (index, caller) in list.enumerated() { list[index].wait = next(caller) ?? caller.wait }
    }

    mutating func updateRetries(_ update: (inout Retry) -> Void) {
        for index in list.indices {
            guard case .retry(var retry) = list[index].wait else { continue }
            update(&retry)
            list[index].wait = .retry(retry)
        }
    }

    // MARK: Answers

    mutating func answer(_ id: RequestID, _ answer: Answer) { setWait(id, to: .answer(.success(answer))) }

    mutating func refuse(_ id: RequestID, _ refusal: SessionError) { setWait(id, to: .answer(.failure(refusal))) }

    /// Refuses the callers whose wait satisfies `isMeant`. With `update`, they get the refusal after that write.
    mutating func refuse(
        _ refusal: SessionError,
        after update: PersistenceQueue.Update? = nil,
        where isMeant: (Wait) -> Bool
    ) {
        for index in list.indices where isMeant(list[index].wait) {
            list[index].wait = update.map { .update($0, .failure(refusal)) } ?? .answer(.failure(refusal))
        }
    }

    /// Refuses every caller except those that wait for a sign-out or already have an answer.
    mutating func overtake() {
        refuse(.overtaken) { wait in
            switch wait {
            case .signOut, .answer: false
            default: true
            }
        }
    }

    mutating func takeAnswered(_ answer: (Caller) -> Reply.Outcome?) -> [Reply] {
        var replies: [Reply] = []
        list.removeAll { caller in
            guard let outcome = answer(caller) else { return false }
            replies.append(Reply(request: caller.id, outcome: outcome))
            return true
        }
        return replies
    }

    // MARK: Queries

    /// The caller whose turn is next. A caller whose app has answered comes first. The daemon asks one app at a time.
    var next: (caller: Caller, signIn: QueuedSignIn)? {
        var first: (Caller, QueuedSignIn)?
        for caller in list {
            guard case .queued(let signIn) = caller.wait else { continue }
            switch signIn {
            case .identifyWith: return (caller, signIn)
            case .identify where asksApp: break
            case .signIn, .identify: first = first ?? (caller, signIn)
            }
        }
        return first
    }

    private var asksApp: Bool {
        list.contains { if case .credential = $0.wait { true } else { false } }
    }

    /// The user that this call wants, while the daemon waits for the app's credential.
    func wanted(by id: RequestID) -> ExternalUserId? {
        guard case .credential(let user)? = list.first(where: { $0.id == id })?.wait else { return nil }
        return user
    }

    /// Whether the external user id of a caller of `session.identify` is being written.
    func isWritingName(to persistence: PersistenceQueue) -> Bool {
        list.contains { if case .name(_, let update, _) = $0.wait { !persistence.hasEnded(update) } else { false } }
    }

    var wantSignIn: Bool { list.contains { $0.wait.isForTurn } }

    /// Whether a credential that waits for its turn may belong to this user.
    func mayBe(_ identity: Identity) -> Bool {
        list.contains { caller in
            guard case .queued(let signIn) = caller.wait else { return false }
            return switch signIn.facts?.subject {
            case .user(let user): user.isSameUser(as: identity)
            case .unnamed: true
            case .nobody, nil: false
            }
        }
    }

    /// The API keys of the sign-ins that wait for their turn.
    var secrets: [SecretRef] {
        list.compactMap { caller in
            guard case .queued(let signIn) = caller.wait else { return nil }
            return signIn.facts?.key
        }
    }

    var retryAt: Uptime? {
        list.compactMap { caller in
            guard case .retry(let retry) = caller.wait else { return nil }
            return retry.time
        }.min()
    }
}

extension Callers.Wait {
    /// Whether the caller waits for its turn to sign in, or for the credential that it then uses.
    var isForTurn: Bool {
        switch self {
        case .queued, .credential: true
        default: false
        }
    }
}
