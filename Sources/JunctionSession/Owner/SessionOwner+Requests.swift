package import JunctionSecret

/// What callers may ask of the owner. Each answer is delivered exactly once, on the owner's executor.
extension SessionOwner {
    /// Signs a user in; the answer is the snapshot after it.
    ///
    /// - Parameter isAllowed: asked again whenever rights have changed, for as long as nothing has left.
    package func signIn(
        _ credential: Credential,
        by uid: UInt32,
        while isAllowed: @escaping @Sendable () -> Bool = { true },
        answer: @escaping @Sendable (Result<Snapshot, Refusal>) -> Void
    ) {
        let credential = completed(credential)
        switch examined(credential) {
        case .failure(let refusal):
            answer(.failure(refusal))
        case .success(let facts):
            let now = now
            let request: ChangeRequest = newRequest()
            requests[request.id] = OpenRequest(credential: credential, isAllowed: isAllowed) { owner, reply in
                owner.deliver(reply, to: answer)
            }
            apply(machine.signInRequested(request, facts, by: uid, now: now), now)
        }
    }

    /// Callers may do something else than before: who waits for a turn and has lost the right to it is refused.
    package func rightsChanged() {
        let withdrawn = Set(requests.filter { !$0.value.isAllowed() }.keys)
        let now = now
        if !withdrawn.isEmpty { apply(machine.rightWithdrawn(from: withdrawn, now: now), now) }
        guard let permit = approvalPermit, !permit() else { return }
        approvalPermit = nil
        apply(machine.approvalRightWithdrawn(now: now), now)
    }

    /// Signs out, from any state, offline too.
    package func signOut(by uid: UInt32, answer: @escaping @Sendable (Result<Snapshot, Refusal>) -> Void) {
        signOutBegins()
        let now = now
        let request: ChangeRequest = newRequest()
        requests[request.id] = OpenRequest { owner, reply in owner.deliver(reply, to: answer) }
        apply(machine.signOutRequested(request, by: uid, now: now), now)
    }

    /// What was received before a sign-out is known before it.
    private func signOutBegins() {
        beforeSignOut?()
    }

    /// Makes the app's user the signed-in user. If a credential is needed, `ask` is called with the request's name;
    /// the credential comes back through `identifyAnswered`.
    package func identify(
        externalUserId: ExternalUserId?,
        by uid: UInt32,
        while isAllowed: @escaping @Sendable () -> Bool = { true },
        ask: @escaping @Sendable (IdentifyRequest, _ externalUserId: ExternalUserId) -> Void,
        answer: @escaping @Sendable (Result<(IdentifyOutcome, Snapshot), Refusal>) -> Void
    ) {
        if externalUserId == nil { signOutBegins() }
        let now = now
        let request: IdentifyRequest = newRequest()
        requests[request.id] = OpenRequest(isAllowed: isAllowed, ask: ask) { owner, reply in
            guard case .identify(_, let outcome) = reply else { return }
            answer(outcome.map { ($0, owner.snapshot) })
        }
        let effects = machine.identifyRequested(
            request,
            externalUserId: externalUserId,
            by: uid,
            now: now
        )
        apply(effects, now)
    }

    /// The app answered the question for a credential; a failure says why it did not.
    package func identifyAnswered(_ request: IdentifyRequest, with answer: Result<Credential, Refusal>) {
        let now = now
        let facts = answer.flatMap { credential in
            let credential = completed(credential)
            // Twice is once: what was judged is what is exchanged.
            if machine.callers.wanted(by: request) != nil { requests[request.id]?.credential = credential }
            return examined(credential)
        }
        apply(machine.identifyAnswered(request, facts, now: now), now)
    }

    /// Compares the session with the user an app believes to be signed in; changes nothing.
    package func reconcile(withUserId userId: String?) -> ReconcileAction {
        machine.reconciliation(withUserId: userId)
    }

    /// Renews now; the answer is the snapshot after it.
    package func renew(by uid: UInt32, answer: @escaping @Sendable (Result<Snapshot, Refusal>) -> Void) {
        let now = now
        let request: ChangeRequest = newRequest()
        requests[request.id] = OpenRequest { owner, reply in owner.deliver(reply, to: answer) }
        apply(machine.renewRequested(request, by: uid, now: now), now)
    }

    /// The token that is served without asking anybody, and when; it is the same until the count of changes rises.
    package var servable: ServableToken? { machine.servable }

    /// The token that can be served at once, if there is one: no waiting, no call, no allocation.
    package func servableToken(minimumValidity: Duration = .zero) -> TokenFacts? {
        machine.servableToken(minimumValidity: minimumValidity, now: now)
    }

    /// An access token that is valid for at least `minimumValidity`, renewed first if need be.
    package func token(
        minimumValidity: Duration = .zero,
        by uid: UInt32,
        answer: @escaping @Sendable (Result<ServedToken, Refusal>) -> Void
    ) {
        let now = now
        let request: TokenRequest = newRequest()
        requests[request.id] = OpenRequest { owner, reply in
            guard case .token(_, let token) = reply else { return }
            answer(token.flatMap(owner.served))
        }
        let effects = machine.tokenRequested(
            request,
            minimumValidity: minimumValidity,
            by: uid,
            now: now
        )
        apply(effects, now)
    }

    /// Answers with the snapshot after the change, or with why there was none.
    private func deliver(_ reply: Reply, to answer: (Result<Snapshot, Refusal>) -> Void) {
        guard case .change(_, let refusal) = reply else { return }
        answer(refusal.map(Result.failure) ?? .success(snapshot))
    }

    /// The secrets that are served now.
    var servedSecrets: SessionSecrets? { shelf.secrets(machine.servedSecrets) }

    /// The secret that belongs to the token which the machine said may be served.
    package func served(_ facts: TokenFacts) -> Result<ServedToken, Refusal> {
        guard let secrets = servedSecrets, let userId = machine.identity?.userId else {
            return .failure(.notSignedIn)
        }
        guard let secret = secrets.accessToken else {
            return .failure(Refusal(.unsupported, "This provider's session has no access token to hand out"))
        }
        return .success(ServedToken(secret: secret, facts: facts, userId: userId))
    }

    // MARK: Credentials

    /// An API key that is configured already need not be handed in again.
    private func completed(_ credential: Credential) -> Credential {
        guard case .apiKey(nil, let userId, let environment, let region) = credential,
            let key = shelf.secrets(machine.keyInUse)?.apiKey, let configured = machine.configuredKey
        else { return credential }
        return .apiKey(
            key: key,
            userId: userId,
            environment: environment ?? configured.environment,
            region: region ?? configured.region
        )
    }

    private func examined(_ credential: Credential) -> Result<CredentialFacts, Refusal> {
        do throws(CredentialRefused) {
            var facts = try provider.examine(credential, configured: machine.configuredKey)
            if case .apiKey(let key?, _, _, _) = credential {
                facts.key = shelf.put(SessionSecrets(apiKey: key))
            }
            return .success(facts)
        } catch {
            return .failure(Refusal(error))
        }
    }
}

/// An access token on its way to a caller.
package struct ServedToken: Sendable {
    package var secret: SharedSecret
    package var facts: TokenFacts
    package var userId: String
}

extension Refusal {
    fileprivate init(_ refused: CredentialRefused) {
        switch refused {
        case .malformed(let reason): self.init(.invalidCredential, reason)
        case .misdescribed(let reason):
            let remedy = "correct that and sign in again; the token, key or code itself is not at fault"
            self.init(.invalidCredential, reason, remedy: remedy)
        case .unsupported(let reason): self.init(.unsupported, reason)
        case .incomplete(let reason): self.init(.invalidParameters, reason)
        }
    }
}
