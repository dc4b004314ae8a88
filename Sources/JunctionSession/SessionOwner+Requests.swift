package import JunctionSecret

/// The requests of callers. The owner delivers each answer exactly once, on its executor.
extension SessionOwner {
    package typealias SnapshotAnswer = @Sendable (Result<Snapshot, SessionError>) -> Void

    /// Signs a user in. The answer is the snapshot after the sign-in.
    ///
    /// - Parameters:
    ///   - isAllowed: called again after each change of rights, until the sign-in takes effect.
    ///   - caller: stored with the codes of a device sign-in.
    package func signIn(
        _ credential: Credential,
        by uid: UInt32,
        while isAllowed: @escaping @Sendable () -> Bool = { true },
        caller: LocalCaller? = nil,
        answer: @escaping SnapshotAnswer
    ) {
        let credential = completed(credential)
        switch examined(credential) {
        case .failure(let refusal):
            answer(.failure(refusal))
        case .success(let facts):
            var request = OpenRequest.answeringSnapshot(answer, credential: credential, while: isAllowed)
            request.caller = caller
            handle(request) {
                $0.signInRequested($1, facts, by: uid, now: $2)
            }
        }
    }

    /// Refuses the callers that have lost the right to the change for which they wait.
    package func rightsChanged() {
        let withdrawn = Set(requests.filter { !$0.value.isAllowed() }.keys)
        if !withdrawn.isEmpty { handle { $0.rightWithdrawn(from: withdrawn, now: $1) } }
        guard let permit = deviceSignInPermit, !permit() else { return }
        deviceSignInPermit = nil
        handle { $0.deviceSignInRightWithdrawn(now: $1) }
    }

    /// Signs out, from any state and also offline.
    package func signOut(by uid: UInt32, answer: @escaping SnapshotAnswer) {
        let ends = endBootstrapCredentials?() ?? false
        handle(.answeringSnapshot(answer)) {
            $0.signOutRequested($1, by: uid, endsBootstrapCredential: ends, now: $2)
        }
    }

    /// Makes the app's user the signed-in user. If a credential is needed, the owner calls `ask` with the request's id.
    /// The app answers through `identifyAnswered`.
    package func identify(
        externalUserId: ExternalUserId?,
        by uid: UInt32,
        while isAllowed: @escaping @Sendable () -> Bool = { true },
        caller: LocalCaller? = nil,
        ask: @escaping @Sendable (RequestID, _ externalUserId: ExternalUserId) -> Void,
        answer: @escaping @Sendable (Result<(IdentifyOutcome, Snapshot), SessionError>) -> Void
    ) {
        let ends = externalUserId == nil && endBootstrapCredentials?() ?? false
        let request = OpenRequest(isAllowed: isAllowed, caller: caller, ask: ask) { owner, outcome in
            switch outcome {
            case .success(.identified(let identified)): answer(.success((identified, owner.snapshot)))
            case .failure(let refusal): answer(.failure(refusal))
            case .success: break
            }
        }
        handle(request) {
            $0.identifyRequested(
                $1,
                externalUserId: externalUserId,
                by: uid,
                endsBootstrapCredential: ends,
                now: $2
            )
        }
    }

    /// Handles the app's answer to the question for a credential. A failure carries the reason.
    package func identifyAnswered(_ request: RequestID, with answer: Result<Credential, SessionError>) {
        let facts = answer.flatMap { credential in
            let credential = completed(credential)
            // A second answer does not replace the credential: the owner exchanges the one whose facts the machine
            // received.
            if machine.callers.wanted(by: request) != nil { requests[request]?.credential = credential }
            return examined(credential)
        }
        handle { $0.identifyAnswered(request, facts, now: $1) }
    }

    /// Compares the session with the user that an app expects to be signed in. It changes nothing.
    package func reconcile(withUserId userId: String?) -> ReconcileAction {
        machine.reconciliation(withUserId: userId)
    }

    /// Renews now. The answer is the snapshot after the renewal.
    package func renew(by uid: UInt32, answer: @escaping SnapshotAnswer) {
        handle(.answeringSnapshot(answer)) { $0.renewRequested($1, by: uid, now: $2) }
    }

    // MARK: Tokens

    /// The token that is served without a request, and its period. It is the same until the count of changes rises.
    package var servable: ServableToken? { machine.servable }

    /// Answers with an access token that is valid for at least `minimumValidity`. It renews the session first if
    /// necessary.
    package func token(
        minimumValidity: Duration = .zero,
        by uid: UInt32,
        answer: @escaping @Sendable (Result<ServedToken, SessionError>) -> Void
    ) {
        let request = OpenRequest { owner, outcome in
            switch outcome {
            case .success(.token(let token)): answer(owner.served(token))
            case .failure(let refusal): answer(.failure(refusal))
            case .success: break
            }
        }
        handle(request) { $0.tokenRequested($1, minimumValidity: minimumValidity, by: uid, now: $2) }
    }

    var servedSecrets: SessionSecrets? { secretStore.session(machine.servedSecrets) }

    /// Returns the secret of the token that the machine permits to serve.
    package func served(_ facts: TokenFacts) -> Result<ServedToken, SessionError> {
        guard let secrets = servedSecrets, let userId = machine.identity?.userId else {
            return .failure(.notSignedIn)
        }
        guard let secret = secrets.accessToken else {
            return .failure(SessionError(.unsupported, "This provider's session has no access token to hand out"))
        }
        return .success(ServedToken(secret: secret, facts: facts, userId: userId))
    }

    // MARK: The bootstrap credential

    /// Sets the function that the owner calls on its executor before every sign-out. It ends the bootstrap credentials
    /// that are in place, so that they never sign in after the sign-out. It returns whether there was one.
    package func beforeSignOut(endBootstrapCredentials end: @escaping @Sendable () -> Bool) {
        endBootstrapCredentials = end
    }

    /// Answers when a bootstrap credential may be tried again after a transient failure. A sign-out ends the wait.
    ///
    /// - Parameter retry: the state after earlier attempts with the same credential. The answer is the value for the
    ///   next call.
    package func waitToRetry(
        after retry: Retry,
        retryAfter: Duration?,
        answer: @escaping @Sendable (Result<Retry, SessionError>) -> Void
    ) {
        let request = OpenRequest { _, outcome in
            switch outcome {
            case .success(.retry(let retry)): answer(.success(retry))
            case .failure(let refusal): answer(.failure(refusal))
            case .success: break
            }
        }
        handle(request) { $0.retryRequested($1, after: retry, retryAfter: retryAfter, now: $2) }
    }

    // MARK: Credentials

    /// Adds the configured API key to a credential that names none.
    private func completed(_ credential: Credential) -> Credential {
        guard case .apiKey(nil, let userId, let environment, let region) = credential,
            let key = secretStore.session(machine.keyInUse)?.apiKey, let configured = machine.configuredKey
        else { return credential }
        return .apiKey(
            key: key,
            userId: userId,
            environment: environment ?? configured.environment,
            region: region ?? configured.region
        )
    }

    /// Refuses every sign-in that waits or comes later with this error, or permits sign-ins again with nil.
    package func refuseSignIns(_ error: SessionError?) {
        signInRefusal = error
        if let error { handle { $0.signInsRefused(error, now: $1) } }
    }

    private func examined(_ credential: Credential) -> Result<CredentialFacts, SessionError> {
        if let signInRefusal { return .failure(signInRefusal) }
        do throws(CredentialRefused) {
            var facts = try provider.examine(credential, configured: machine.configuredKey)
            if case .apiKey(let key?, _, _, _) = credential {
                facts.key = secretStore.put(.session(SessionSecrets(apiKey: key)))
            }
            return .success(facts)
        } catch {
            return .failure(SessionError(error))
        }
    }
}

extension SessionOwner.OpenRequest {
    fileprivate static func answeringSnapshot(
        _ answer: @escaping SessionOwner.SnapshotAnswer,
        credential: Credential? = nil,
        while isAllowed: @escaping @Sendable () -> Bool = { true }
    ) -> Self {
        Self(credential: credential, isAllowed: isAllowed) { owner, outcome in
            answer(outcome.map { _ in owner.snapshot })
        }
    }
}

package struct ServedToken: Sendable {
    package var secret: SharedSecret
    package var facts: TokenFacts
    package var userId: String
}

extension SessionError {
    fileprivate init(_ refused: CredentialRefused) {
        switch refused {
        case .malformed(let reason): self.init(.invalidCredential, reason)
        case .misdescribed(let reason):
            let remedy = "correct that and sign in again; the token, key or code itself is not at fault"
            self.init(.invalidCredential, reason, remedy: remedy)
        case .unsupported(let reason): self.init(.unsupported, reason)
        case .incomplete(let reason): self.init(.invalidParameters, reason)
        case .misconfigured(let reason): self.init(.misconfigured, reason)
        }
    }
}
