package import JunctionSession

extension OAuthProvider {
    /// The URL of the page on which a person signs in with a browser; what comes back to `redirectUri` is a credential of the
    /// scheme `authorizationCode`.
    package func authorizationPage(
        redirectUri: String,
        state: String,
        codeChallenge: String
    ) async throws(Unavailability) -> String {
        AuthorizationRequest(
            clientId: setup.client.id,
            redirectUri: redirectUri,
            scopes: setup.scopes,
            audience: setup.audience,
            resources: setup.resources,
            state: state,
            codeChallenge: codeChallenge
        ).url(at: try await server.required(.authorization))
    }
}
