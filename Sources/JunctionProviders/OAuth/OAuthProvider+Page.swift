package import JunctionSession

extension OAuthProvider {
    /// The URL of the page on which a person signs in with a browser; what comes back to `redirectUri` is a credential of the
    /// scheme `authorizationCode`.
    package func authorizationPage(_ page: AuthorizationPage) async throws(Refusal) -> String {
        guard RedirectUri.isPossible(page.redirectUri) else {
            throw Refusal(.invalidParameters, "redirectUri: \(RedirectUri.rule)")
        }
        guard page.codeChallenge.isCodeChallenge else {
            throw Refusal(
                .invalidParameters,
                "codeChallenge: expected the SHA-256 of the code verifier, as 43 characters of base64url"
            )
        }
        let endpoint: HttpUrl
        do throws(Unavailability) {
            endpoint = try await server.required(.authorization, at: nil)
        } catch {
            throw Refusal(
                .providerUnavailable,
                error.message,
                retryAfter: error.retryAfter,
                remedy: .signInAgain
            )
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

extension String {
    /// RFC 7636 §4.2, by S256.
    fileprivate var isCodeChallenge: Bool {
        utf8.count == 43 && utf8.allSatisfy { PercentEncoding.isUnreserved($0) && $0 != 0x2E && $0 != 0x7E }
    }
}
