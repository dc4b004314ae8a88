import JunctionClient
import JunctionProtocol
import JunctionText

/// A sign-in on the provider's page in a browser of this machine (RFC 8252), which returns an authorization code.
struct BrowserSignIn {
    var options: GlobalOptions

    /// Enough time for a person to find a password and a second factor.
    private static let patience = Duration.seconds(600)

    /// Opens the page and waits for the browser's redirect.
    func credential() throws -> Credential {
        // The listener must exist first, because the address of the page contains the listener's address.
        let listener = try RedirectListener()
        // The PKCE code verifier (RFC 7636) proves that one program both requests and redeems the code. The daemon
        // derives the challenge.
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

    /// Prints who was signed in, because the user was chosen in the browser and not in the terminal.
    static func confirm(_ snapshot: Snapshot) {
        guard let user = snapshot.userId else { return }
        StandardError.note("signed in as \(user); if that is somebody else, run 'junctionctl sign-out'")
    }

    static func invitation(to page: String) -> String {
        "Sign in on this page, in a browser on this machine:\n\n    \(page.onOneLine)\n"
    }
}

extension String {
    /// Whether the text is a web address without characters that are not allowed in a header field.
    fileprivate var isWebAddress: Bool {
        (hasPrefix("https://") || hasPrefix("http://")) && utf8.allSatisfy(\.isVisibleASCII)
    }
}
