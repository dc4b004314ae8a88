import JunctionProtocol

// What the signed-in user may do.
extension JunctionClient {
    /// An access token of the signed-in user, which the daemon renews first if it has to.
    ///
    /// Ask each time a token is needed and keep none: a living one costs a few microseconds.
    ///
    /// - Parameter minimumValidity: how long the token has to live from now on.
    public func accessToken(minimumValidity: Duration = .zero) async throws(JunctionError) -> AccessToken {
        let seconds = minimumValidity > .zero ? minimumValidity / .seconds(1) : nil
        return try await perform(TokenGet.self, TokenGet.Params(minimumValidity: seconds))
    }

    /// Renews the access token now, past a postponement or a backoff.
    ///
    /// - Returns: the state and the life of the new token. Its `snapshot` is there for a caller with the capability `status`.
    public func renew() async throws(JunctionError) -> RenewResult {
        try await perform(SessionRenew.self)
    }

    /// Calls the provider's API as the signed-in user; the daemon adds the credential.
    ///
    /// An answer with a status of 400 or more is an answer, not an error.
    public func call(_ request: ApiRequest) async throws(JunctionError) -> ApiAnswer {
        try await perform(ApiCall.self, request)
    }
}
