import Crypto
import JunctionSecret
package import JunctionSession
import JunctionText

extension OAuthProvider {
    /// The URL of the page on which a person signs in with a browser; what comes back to `redirectUri` is a credential of the
    /// scheme `authorizationCode`.
    package func authorizationPage(_ page: AuthorizationPage) async throws(SessionError) -> String {
        guard RedirectUri.isPossible(page.redirectUri) else {
            throw SessionError(.invalidParameters, "redirectUri: \(RedirectUri.rule)")
        }
        let challenge = try page.proof.challenge
        let endpoint: HttpUrl
        do throws(Unavailability) {
            endpoint = try await server.required(.authorization, at: nil)
        } catch {
            throw SessionError(error, remedy: .signInAgain(after: error))
        }
        return AuthorizationRequest(
            clientId: setup.client.id,
            redirectUri: page.redirectUri,
            scopes: setup.scopes,
            audience: setup.audience,
            resources: setup.resources,
            state: page.state,
            codeChallenge: challenge
        ).url(at: endpoint)
    }
}

extension AuthorizationPage.Proof {
    /// The challenge that the provider is told, from which nobody learns the verifier.
    fileprivate var challenge: String {
        get throws(SessionError) {
            switch self {
            case .challenge(let challenge):
                guard challenge.isCodeChallenge else {
                    throw SessionError(
                        .invalidParameters,
                        "codeChallenge: expected the SHA-256 of the code verifier, as 43 characters of base64url"
                    )
                }
                return challenge
            case .verifier(let verifier):
                let challenge = verifier.withUnsafeBytes { verifier -> String? in
                    // RFC 7636 §4.1.
                    guard (43...128).contains(verifier.count), verifier.allSatisfy(PercentEncoding.isUnreserved) else {
                        return nil
                    }
                    return Base64.encodeURLSafe(Array(SHA256.hash(data: verifier)))
                }
                guard let challenge else {
                    throw SessionError(
                        .invalidParameters,
                        "codeVerifier: expected 43 to 128 letters, digits, '-', '.', '_' and '~'"
                    )
                }
                return challenge
            }
        }
    }
}

extension String {
    /// RFC 7636 §4.2, by S256.
    fileprivate var isCodeChallenge: Bool {
        utf8.count == 43 && utf8.allSatisfy { PercentEncoding.isUnreserved($0) && $0 != 0x2E && $0 != 0x7E }
    }
}
