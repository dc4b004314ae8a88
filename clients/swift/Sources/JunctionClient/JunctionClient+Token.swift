import JunctionProtocol

extension JunctionClient {
    /// Returns an access token of the signed-in user. The daemon renews it first if necessary.
    ///
    /// Call this each time the app needs a token, and store none: a call takes a few microseconds while the token is
    /// valid.
    ///
    /// - Parameter minimumValidity: how long the token must still be valid.
    public func accessToken(minimumValidity: Duration = .zero) async throws(JunctionError) -> AccessToken {
        let seconds = minimumValidity > .zero ? minimumValidity / .seconds(1) : nil
        return try await perform(TokenGet.self, TokenGet.Params(minimumValidity: seconds))
    }

    /// Renews the access token now, even during a postponement or a backoff.
    ///
    /// - Returns: the state and the times of the new token. A caller with the capability `status` also gets the
    ///   `snapshot`.
    public func renew() async throws(JunctionError) -> RenewResult {
        try await perform(SessionRenew.self)
    }

    /// Calls the provider's API as the signed-in user. The daemon adds the credential.
    ///
    /// An answer with a status of 400 or more is returned, not thrown.
    public func call(_ request: ApiRequest) async throws(JunctionError) -> ApiAnswer {
        try await perform(ApiCall.self, request)
    }
}
