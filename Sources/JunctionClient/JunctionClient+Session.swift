import JunctionProtocol

// Who is signed in.
extension JunctionClient {
    /// The present state of the session.
    public func status() async throws(JunctionError) -> Snapshot {
        try await perform(SessionStatus.self)
    }

    /// Signs a user in. The signed-in user again is a success.
    ///
    /// - Throws: `alreadySignedIn` when it is somebody else: sign out first, or use `identify`.
    public func signIn(_ credential: Credential) async throws(JunctionError) -> Snapshot {
        try await perform(SessionSignIn.self, credential)
    }

    /// Signs the user out, from any state and without the network.
    ///
    /// When the answer says `storage.durable == false`, the user is signed out now, but would be back after a restart.
    public func signOut() async throws(JunctionError) -> Snapshot {
        try await perform(SessionSignOut.self)
    }

    /// Makes the user that the app knows by this id the signed-in one; `nil` signs out.
    ///
    /// - Parameter credential: asked for a credential for that id, and only if one is needed. When it throws, nothing
    ///   changes, and what it threw is thrown here.
    public func identify(
        externalUserId: String?,
        credential: (String) async throws -> Credential
    ) async throws -> IdentifyResult {
        let params = SessionIdentify.Params(externalUserId: externalUserId)
        guard let externalUserId else { return try await perform(SessionIdentify.self, params) }

        let connection = try usableConnection()
        var failure: (any Error)?
        for await turn in try connection.performDialogue(SessionIdentify.self, params, about: externalUserId) {
            switch turn {
            case .question(let id):
                do {
                    connection.respond(.success(try await credential(externalUserId)), to: id)
                } catch {
                    failure = error
                    connection.respond(.failure(WireError(.invalidCredential, "The app has no credential")), to: id)
                }
            case .answer(.success(let json)):
                return try Connection.Answered(reading: json).value
            case .answer(.failure(let error)):
                throw failure ?? error
            }
        }
        throw failure ?? JunctionError.cancelled
    }

    /// Compares the signed-in user with the one that the app expects, and changes nothing; `nil` expects nobody.
    public func reconcile(userId: String?) async throws(JunctionError) -> ReconcileResult {
        try await perform(SessionReconcile.self, SessionReconcile.Params(userId: userId))
    }
}
