package import JunctionSession

extension OAuthProvider {
    /// The URL of the page on which a person signs in with a browser; what comes back to `redirectUri` is a credential of the
    /// scheme `authorizationCode`.
    package func authorizationPage(_ page: AuthorizationPage) async throws(Refusal) -> String {
        let endpoint: HttpUrl
        do throws(Unavailability) {
            endpoint = try await server.required(.authorization)
        } catch {
            throw Refusal(.providerUnavailable, error.message, retryAfter: error.retryAfter)
        }
        return AuthorizationRequest(
            clientId: setup.client.id,
            redirectUri: page.redirectUri,
            scopes: setup.scopes,
            audience: setup.audience,
            resources: setup.resources,
            state: page.state,
            codeChallenge: page.codeChallenge
        ).url(at: endpoint)
    }
}
