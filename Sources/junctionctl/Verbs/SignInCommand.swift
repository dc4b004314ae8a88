import ArgumentParser
import JunctionClient
import JunctionProtocol

/// Starts a session.
struct SignInCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "sign-in",
        abstract: "Signs a user in.",
        discussion: """
            Without options it takes a Sign-In Token from standard input. The signed-in user again is a success; \
            another one is refused until 'junctionctl sign-out'.
            Ends with exit code 75 when the user is signed in, but that could not be stored.
            """
    )

    @OptionGroup(title: "Credential") var credential: CredentialOptions
    @OptionGroup var options: GlobalOptions

    func run() throws {
        let form = try credential.form()
        if case .apiKey = form {
            StandardError.note("a team API key is for evaluation only: whoever has it can act for every user")
        }
        var connection = try options.connect()
        let state = try connection.perform(SessionSignIn.self, try form.read())
        try options.show(state) { SnapshotText($0).paragraph }
        try state.value.requireDurable("the user is signed in, but would not be after a restart")
    }
}
