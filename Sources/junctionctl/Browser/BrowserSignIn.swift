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
        // The proof that the same program asked for the code and redeems it (RFC 7636). The daemon makes the challenge of it.
        let verifier = SecretText.random()
        let state = SecretText.random()
        let answer = try options.ask(
            SessionAuthorizationPage.self,
            SessionAuthorizationPage.Params(
                redirectUri: listener.address,
                state: state.revealed(),
                codeVerifier: verifier
            )
        )
        try options.show(answer) { Self.invitation(to: $0.url) }
        let page = answer.value.url.isWebAddress ? answer.value.url : nil
        if page != nil, WebBrowser.open(listener.startAddress) { StandardError.note("the page opens in your browser") }
        let code = try listener.code(for: state, from: page, by: .after(Self.patience))
        return .authorizationCode(code, redirectUri: listener.address, codeVerifier: verifier)
    }

    /// Says who was signed in: that was decided in the browser, and not in the terminal.
    static func confirm(_ snapshot: Snapshot) {
        guard let user = snapshot.userId else { return }
        StandardError.note("signed in as \(user); if that is somebody else, run 'junctionctl sign-out'")
    }

    static func invitation(to page: String) -> String {
        "Sign in on this page, in a browser on this machine:\n\n    \(page.onOneLine)\n"
    }
}

extension String {
    /// Whether a browser may be sent there: an address of the Web that is one word of a header field.
    fileprivate var isWebAddress: Bool {
        (hasPrefix("https://") || hasPrefix("http://")) && utf8.allSatisfy { (0x21...0x7E).contains($0) }
    }
}
