import ArgumentParser
import JunctionClient
import JunctionProtocol

struct SignInCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "sign-in",
        abstract: "Signs a user in.",
        discussion: """
            Without options it takes a Sign-In Token from standard input, or the answer of your backend that holds one \
            (Junction; the other providers need a user id). The daemon's provider decides what a --user-id alone means: \
            a log-in (social.plus), a registration whose token a session handler is asked for (Sinch), or the user of \
            the API key that the daemon has (Junction).
            With OAuth it is --device: the codes are printed, and it waits until a person has approved on another screen. \
            ^C leaves that running.
            If the user is already signed in, it succeeds. If another user is signed in, run 'junctionctl sign-out' first.
            Ends with exit code 75 when the user is signed in, but that could not be stored.
            """,
        aliases: ["login"]
    )

    @OptionGroup var credential: CredentialOptions

    @OptionGroup var options: GlobalOptions

    func run() throws {
        let form = try credential.form()
        if credential.junction.isApiKey {
            StandardError.note("a team API key is for evaluation only: whoever has it can act for every user")
        }
        if credential.sinch.selfSigned {
            StandardError.note("self-signing is discouraged: whoever has the application's secret can be any user")
        }
        if credential.sinch.registrationSignatureFile != nil {
            StandardError.note("signatures are a legacy scheme: let your backend make registration tokens")
        }
        // The program checks the daemon first, so that no user types a token in vain.
        _ = try options.connect()
        let resolved = try form.resolved { try options.provider() }
        let (qr, noWait) = (credential.oauth.qr, credential.oauth.noWait)
        if case .complete(.device) = resolved {
            return try DeviceSignIn(options: options, codes: try options.codes(asPicture: qr), waits: !noWait).run()
        }
        guard !qr, !noWait else { throw CommandFailure(usage: "--qr and --no-wait belong to --device") }
        let credential = try resolved.read { try BrowserSignIn(options: options).credential() }
        let state = try options.ask(SessionSignIn.self, credential)
        try options.show(state) { SnapshotText($0).paragraph }
        if case .browser = resolved { BrowserSignIn.confirm(state.value) }
        state.value.warnOfMissingHandler()
        PendingRestart(options)?.warn()
        try state.value.requireDurable("the user is signed in, but would not be after a restart")
    }
}
