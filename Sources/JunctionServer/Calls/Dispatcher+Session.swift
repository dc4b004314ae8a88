import JunctionProtocol
import JunctionSession
import NIOCore

extension Dispatcher {
    func status(_ request: Request, _: NoParams?) {
        tellState(to: request.caller) { request.succeed(with: $0) }
    }

    /// Passes the encoded present state, as the caller may see it, to `tell`.
    func tellState(to caller: Caller, _ tell: (UnsafeRawBufferPointer) -> Void) {
        prepared.withStatus(of: owner, for: caller.seesCodes, tell)
    }

    func subscribe(_ request: Request, _ params: SessionSubscribe.Params) {
        request.batch?.delayNotifications(of: request.connection)
        guard request.connection.isOpen else { return status(request, nil) }
        watchStates(request.connection, params, among: watchers) { request.succeed(with: $0) }
    }

    /// Sends a connection the present state, and later ones as they come.
    func watchStates<Member: Watcher>(
        _ connection: Member,
        _ params: SessionSubscribe.Params,
        among watchers: Watchers<Member>,
        _ tell: (UnsafeRawBufferPointer) -> Void
    ) {
        let present = SentState(WireSnapshot(owner.assumeIsolated { $0.snapshot }))
        watchers.add(connection, params.changes ?? .all, told: present)
        tellState(to: connection.caller, tell)
    }

    func unsubscribe(_ request: Request, _: NoParams) {
        watchers.remove(request.connection)
        request.succeed(SessionUnsubscribe.self, NoAnswer())
    }

    func signIn(_ request: Request, _ credential: WireCredential) {
        let (peer, observer) = (request.caller.peer, observer)
        let isAllowed = stillMay(.manage, request)
        let shown = shown(to: request.caller)
        let answer = laterIfAllowed(SessionSignIn.self, .sessionSignIn, request) { snapshot in
            // As long as there are codes, no user is signed in yet.
            if snapshot.authorization == nil { observer.happened(.signedIn, by: peer) }
        }
        owner.assumeIsolated { owner in
            owner.signIn(
                JunctionSession.Credential(credential),
                by: peer.user,
                while: isAllowed,
                caller: LocalCaller(peer)
            ) {
                answer($0.map(shown))
            }
        }
    }

    func signOut(_ request: Request, _: NoParams) {
        let (peer, observer) = (request.caller.peer, observer)
        let shown = shown(to: request.caller)
        let answer = request.later(SessionSignOut.self)
        owner.assumeIsolated { owner in
            owner.signOut(by: peer.user) { outcome in
                if case .success = outcome { observer.happened(.signedOut, by: peer) }
                answer(outcome.map(shown).mapError(WireError.init))
            }
        }
    }

    func reconcile(_ request: Request, _ params: SessionReconcile.Params) {
        let shown = shown(to: request.caller)
        let result = owner.assumeIsolated { owner in
            ReconcileResult(
                action: .init(owner.reconcile(withUserId: params.userId)),
                snapshot: shown(owner.snapshot)
            )
        }
        request.succeed(SessionReconcile.self, result)
    }

    func renew(_ request: Request, _: NoParams) {
        let user = request.caller.user
        let shown = shownOfRenewal(to: request.caller)
        let answer = laterIfAllowed(SessionRenew.self, .sessionRenew, request)
        owner.assumeIsolated { owner in
            owner.renew(by: user) { answer($0.map(shown)) }
        }
    }

    func authorizationPage(
        _ request: Request,
        _ params: SessionAuthorizationPage.Params
    ) throws(WireMismatch) {
        let proof: AuthorizationPage.Proof
        switch (params.codeChallenge, params.codeVerifier) {
        case (let challenge?, nil): proof = .challenge(challenge)
        case (nil, let verifier?): proof = .verifier(verifier.box)
        case (nil, nil), (_?, _?): throw WireMismatch("codeChallenge", "or 'codeVerifier' must be there, and not both")
        }
        let user = request.caller.user
        let answer = laterIfAllowed(SessionAuthorizationPage.self, .sessionAuthorizationPage, request)
        let wanted = AuthorizationPage(
            redirectUri: params.redirectUri,
            state: params.state,
            proof: proof
        )
        owner.assumeIsolated { owner in
            owner.authorizationPage(wanted, by: user) { answer($0.map(SessionAuthorizationPage.Answer.init)) }
        }
    }

}
