/// Returns the provider's page on which a person signs in, for an app that opens it in a browser (RFC 8252).
package enum SessionAuthorizationPage: MethodDefinition {
    /// The values that the app has prepared.
    package struct Params: WireParams, WireObject, Equatable {
        /// The address to which the browser returns: a port of the app on loopback.
        package var redirectUri: String
        /// The value that the browser returns unchanged.
        package var state: String
        /// The SHA-256 of the app's verifier, in Base64url (RFC 7636, method S256).
        package var codeChallenge: String?
        /// The verifier itself, from which the daemon computes the challenge. Either this or the challenge is present.
        package var codeVerifier: SecretText?

        package init(
            redirectUri: String,
            state: String,
            codeChallenge: String? = nil,
            codeVerifier: SecretText? = nil
        ) {
            self.redirectUri = redirectUri
            self.state = state
            self.codeChallenge = codeChallenge
            self.codeVerifier = codeVerifier
        }

        package static let fields = Fields(
            Params.init(redirectUri:state:codeChallenge:codeVerifier:),
            Field("redirectUri", \.redirectUri, .text, "where the browser is to come back to, on loopback"),
            Field("state", \.state, .text, "the OAuth state, which the browser returns unchanged"),
            Field("codeChallenge", \.codeChallenge, ifPresent: .text, "the PKCE code challenge (RFC 7636, S256)"),
            Field(
                "codeVerifier",
                \.codeVerifier,
                ifPresent: .secret,
                "in place of codeChallenge: the PKCE code verifier, from which the daemon computes it"
            )
        )
    }

    package struct Answer: WireObject, Hashable {
        package var url: String

        package init(url: String) {
            self.url = url
        }

        package static let fields = Fields(
            at: "result",
            Answer.init(url:),
            Field("url", \.url, .text, "the page's address")
        )
    }

    package static let name: StaticString = "session.authorizationPage"
    package static let capability: Capability? = .manage
    package static let onlyAnswers = true
    package static let summary = "The page on which a person signs in by a browser; signIn takes what comes back"
    package static let errors: [ErrorCode] = [.providerUnavailable, .misconfigured, .unsupported]
}
