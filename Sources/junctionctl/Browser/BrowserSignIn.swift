import JunctionClient
import JunctionProtocol

/// A sign-in on the provider's page in a browser of this machine (RFC 8252), which brings back a code.
struct BrowserSignIn {
    var options: GlobalOptions

    /// As long as a person takes who has to look up a password and a second factor.
    private static let patience = Duration.seconds(600)

    /// Has the page opened, and waits for the browser to come back.
    func credential() throws -> Credential {
        // By the time the page has an address, there has to be somebody to come back to.
        let listener = try RedirectListener()
        let key = ProofKey()
        let state = SecretText.random()
        let page = try options.ask(
            SessionAuthorizationPage.self,
            SessionAuthorizationPage.Params(
                redirectUri: listener.address,
                state: state.revealed(),
                codeChallenge: key.challenge
            )
        )
        try options.show(page) { Self.invitation(to: $0.url) }
        if WebBrowser.open(page.value.url) { StandardError.note("the page opens in your browser") }
        let code = try listener.code(for: state, by: .after(Self.patience))
        return .authorizationCode(code, redirectUri: listener.address, codeVerifier: key.verifier)
    }

    static func invitation(to page: String) -> String {
        "Sign in on this page, in a browser on this machine:\n\n    \(page.onOneLine)\n"
    }
}
