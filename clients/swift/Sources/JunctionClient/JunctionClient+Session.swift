import JunctionProtocol

extension JunctionClient {
    /// Returns the present state of the session.
    public func status() async throws(JunctionError) -> Snapshot {
        try await perform(SessionStatus.self)
    }

    /// Signs a user in. If the same user is already signed in, the call succeeds.
    ///
    /// With `.device`, the answer comes as soon as there are codes with which a person can approve the sign-in. The
    /// snapshot's `authorization` contains the codes, and `watch()` shows when the sign-in has ended. A second call
    /// returns the pending sign-in.
    ///
    /// - Throws: `alreadySignedIn` if another user is signed in: sign out first, or use `identify`.
    public func signIn(_ credential: Credential) async throws(JunctionError) -> Snapshot {
        try await perform(SessionSignIn.self, credential)
    }

    /// Returns the provider's page on which a person signs in, for an app that opens it in a browser (RFC 8252). Pass
    /// the code that the browser returns to `signIn`, as `.authorizationCode`.
    ///
    /// - Parameters:
    ///   - redirectUri: the address to which the browser returns: an open port of the app on loopback.
    ///   - state: a value that no other program can guess. The browser returns it unchanged.
    ///   - codeChallenge: the SHA-256 of the app's verifier, in Base64url without padding (RFC 7636, method S256).
    /// - Returns: the address of the page.
    /// - Throws: `unsupported` if the provider has no such page.
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
    /// If the answer contains `storage.durable == false`, the user is signed out now, but would be signed in again
    /// after a restart.
    public func signOut() async throws(JunctionError) -> Snapshot {
        try await perform(SessionSignOut.self)
    }

    /// Makes the user whom the app knows by this id the signed-in one; `nil` signs out.
    ///
    /// If the daemon restarts before it has asked for a credential, the call is repeated. After the daemon has asked, a
    /// lost connection is `connectionLost`: the credential may have been used, and another app may have signed the user
    /// out meanwhile, so check the state first. For `nil`, as for `signOut`, a lost connection is always
    /// `connectionLost`.
    ///
    /// - Parameter credential: called for a credential for that id, only if one is needed. If it throws, nothing
    ///   changes, and `identify` throws the same error as `.credential`. Its time counts for a `timeout`, but the
    ///   `timeout` does not interrupt it. A credential that it returns after the `timeout` or a cancellation is not
    ///   used: the daemon's question is refused when the call ends.
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
                    // An error of the app's closure ends the call, even if the connection is lost.
                    guard let failure else { throw error }
                    return .failure(.credential(failure))
                }
            }
        } catch {
            throw .junction(error)
        }
        return try outcome.get()
    }

    /// - Parameter credential: returns `nil` if the app has none.
    private func identify(
        _ externalUserId: String,
        on connection: SharedConnection,
        by deadline: Deadline,
        credential: (String) async -> Credential?
    ) async throws(JunctionError) -> IdentifyResult {
        for await turn in try connection.beginIdentify(externalUserId, by: deadline) {
            switch turn {
            case .question(let call):
                let none = WireError(.invalidCredential, "The app has no credential")
                let answer = await credential(externalUserId)
                // Leaving the loop ends the call, which refuses the daemon's question.
                if deadline.hasPassed { throw .timedOut }
                if Task.isCancelled { throw .cancelled }
                connection.respond(answer.map { .success($0) } ?? .failure(none), toQuestionAbout: call)
            case .answer(let outcome):
                return try Connection.Answered(reading: outcome.get()).value
            }
        }
        throw .cancelled
    }

    /// Compares the signed-in user with the user that the app expects, and changes nothing; `nil` expects no user.
    public func reconcile(userId: String?) async throws(JunctionError) -> ReconcileResult {
        try await perform(SessionReconcile.self, SessionReconcile.Params(userId: userId))
    }
}

/// Why a user could not be identified.
public enum IdentifyError<Failure: Error>: Error {
    /// The daemon refused the call, or could not be reached.
    case junction(JunctionError)
    /// The app's closure threw this error.
    case credential(Failure)
}

extension IdentifyError: Equatable where Failure: Equatable {}

extension IdentifyError: CustomStringConvertible {
    /// The description of the error.
    public var description: String {
        switch self {
        case .junction(let error): error.description
        case .credential(let failure): String(describing: failure)
        }
    }
}
