import JunctionProtocol

// Who is signed in.
extension JunctionClient {
    /// The present state of the session.
    public func status() async throws(JunctionError) -> Snapshot {
        try await perform(SessionStatus.self)
    }

    /// Signs a user in. The signed-in user again is a success.
    ///
    /// With `.device` the answer comes as soon as there are codes for a person to approve it with: they are in the snapshot's
    /// `authorization`, and `watch()` tells when it is over. A second call returns the one that is under way.
    ///
    /// - Throws: `alreadySignedIn` when it is somebody else: sign out first, or use `identify`.
    public func signIn(_ credential: Credential) async throws(JunctionError) -> Snapshot {
        try await perform(SessionSignIn.self, credential)
    }

    /// The provider's page on which a person signs in, for an app that opens it in a browser (RFC 8252). `signIn` takes what
    /// the browser brings back, as `.authorizationCode`.
    ///
    /// - Parameters:
    ///   - redirectUri: where the browser is to come back to: a port of the app's own on loopback, open by then.
    ///   - state: what it has to bring along unchanged; nobody else can guess it.
    ///   - codeChallenge: the SHA-256 of the app's verifier, in Base64url without padding (RFC 7636, method S256).
    /// - Returns: the page's address.
    /// - Throws: `unsupported` when the provider has no such page.
    public func authorizationPage(
        redirectUri: String,
        state: String,
        codeChallenge: String
    ) async throws(JunctionError) -> String {
        let params = SessionAuthorizationPage.Params(
            redirectUri: redirectUri,
            state: state,
            codeChallenge: codeChallenge
        )
        return try await perform(SessionAuthorizationPage.self, params).url
    }

    /// Signs the user out, from any state and without the network.
    ///
    /// When the answer says `storage.durable == false`, the user is signed out now, but would be back after a restart.
    public func signOut() async throws(JunctionError) -> Snapshot {
        try await perform(SessionSignOut.self)
    }

    /// Makes the user that the app knows by this id the signed-in one; `nil` signs out.
    ///
    /// When the daemon is restarted before it has asked for a credential, the next one is told the same. Once it has asked,
    /// a lost connection is `connectionLost`: the credential may have been used, and meanwhile somebody may have signed
    /// the user out again, so what became of it is to be asked first. So it is with `nil`, as with `signOut`.
    ///
    /// - Parameter credential: asked for a credential for that id, and only if one is needed. When it throws, nothing
    ///   changes, and what it threw is thrown here, as `.credential`. The time that it takes counts for a `timeout`, and is
    ///   not cut short by it. A credential that it returns after the `timeout` or a cancellation is not used: the daemon's
    ///   question is refused when the call ends.
    public func identify<Failure: Error>(
        externalUserId: String?,
        credential: (String) async throws(Failure) -> Credential
    ) async throws(IdentifyError<Failure>) -> IdentifyResult {
        let params = SessionIdentify.Params(externalUserId: externalUserId)
        let outcome: Result<IdentifyResult, IdentifyError<Failure>>
        do throws(JunctionError) {
            guard let externalUserId else { return try await perform(SessionIdentify.self, params) }
            outcome = try await repeating(SessionIdentify.self, params) {
                connection,
                deadline,
                repetition throws(JunctionError) in
                var failure: Failure?
                do throws(JunctionError) {
                    let result = try await identify(externalUserId, on: connection, by: deadline) { user in
                        repetition.daemonAsked()
                        do throws(Failure) {
                            return try await credential(user)
                        } catch {
                            failure = error
                            return nil
                        }
                    }
                    return .success(result)
                } catch {
                    // What the app itself has thrown is the end of it, whatever becomes of the connection.
                    guard let failure else { throw error }
                    return .failure(.credential(failure))
                }
            }
        } catch {
            throw .junction(error)
        }
        return try outcome.get()
    }

    /// - Parameter credential: nothing when the app has none.
    private func identify(
        _ externalUserId: String,
        on connection: SharedConnection,
        by deadline: CallDeadline,
        credential: (String) async -> Credential?
    ) async throws(JunctionError) -> IdentifyResult {
        let params = SessionIdentify.Params(externalUserId: externalUserId)
        let turns = try connection.performDialogue(SessionIdentify.self, params, about: externalUserId, by: deadline)
        for await turn in turns {
            switch turn {
            case .question(let call):
                let none = WireError(.invalidCredential, "The app has no credential")
                let answer = await credential(externalUserId)
                // Leaving the loop ends the call, which refuses the question.
                if deadline.hasPassed { throw .timedOut }
                if Task.isCancelled { throw .cancelled }
                connection.respond(answer.map { .success($0) } ?? .failure(none), toQuestionAbout: call)
            case .answer(let outcome):
                return try Connection.Answered(reading: outcome.get()).value
            }
        }
        throw .cancelled
    }

    /// Compares the signed-in user with the one that the app expects, and changes nothing; `nil` expects nobody.
    public func reconcile(userId: String?) async throws(JunctionError) -> ReconcileResult {
        try await perform(SessionReconcile.self, SessionReconcile.Params(userId: userId))
    }
}

/// Why a user could not be identified.
public enum IdentifyError<Failure: Error>: Error {
    /// The daemon's word, or it could not be asked.
    case junction(JunctionError)
    /// The app had no credential: what its closure threw.
    case credential(Failure)
}

extension IdentifyError: Equatable where Failure: Equatable {}

extension IdentifyError: CustomStringConvertible {
    /// The words of whoever failed.
    public var description: String {
        switch self {
        case .junction(let error): error.description
        case .credential(let failure): String(describing: failure)
        }
    }
}
