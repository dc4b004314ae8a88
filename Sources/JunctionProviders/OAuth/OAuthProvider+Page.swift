import Crypto
import JunctionSecret
package import JunctionSession
import JunctionText

extension OAuthProvider {
    /// Returns the URL of the authorization page for a browser sign-in. The code that arrives at `redirectUri` becomes
    /// a credential of the scheme `authorizationCode`.
    package func authorizationPage(_ page: AuthorizationPage) async throws(AuthorizationPageFailure) -> String {
        guard RedirectUri.isPossible(page.redirectUri) else {
            throw .invalid("redirectUri: \(RedirectUri.rule)")
        }
        let challenge = try page.proof.challenge
        let endpoint = try await mappingUnavailability(
            of: await server.required(.authorization, at: nil),
            to: AuthorizationPageFailure.unavailable
        )
        // RFC 6749 §4.1.1, RFC 7636 §4.3.
        let fields: [FormBody.Field] = [
            .text(name: "response_type", value: "code"), .text(name: "client_id", value: setup.client.id),
            .text(name: "redirect_uri", value: page.redirectUri), .text(name: "state", value: page.state),
            .text(name: "code_challenge", value: challenge), .text(name: "code_challenge_method", value: "S256"),
        ]
        let query = FormBody(fields + setup.asked).encoded.withUnsafeBytes { String(decoding: $0, as: UTF8.self) }
        // A query that the endpoint already has is kept.
        return endpoint.text + (endpoint.hasQuery ? "&" : "?") + query
    }
}

extension AuthorizationPage.Proof {
    /// The code challenge for the provider. The verifier cannot be computed from it.
    fileprivate var challenge: String {
        get throws(AuthorizationPageFailure) {
            switch self {
            case .challenge(let challenge):
                guard challenge.isCodeChallenge else {
                    throw .invalid(
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
                    throw .invalid("codeVerifier: expected 43 to 128 letters, digits, '-', '.', '_' and '~'")
                }
                return challenge
            }
        }
    }
}

extension AuthorizationPageFailure {
    fileprivate static func invalid(_ message: String) -> Self { .refused(SessionError(.invalidParameters, message)) }
}

extension String {
    /// Whether the text is a code challenge of S256 (RFC 7636 §4.2).
    fileprivate var isCodeChallenge: Bool {
        utf8.count == 43 && utf8.allSatisfy { PercentEncoding.isUnreserved($0) && $0 != 0x2E && $0 != 0x7E }
    }
}
