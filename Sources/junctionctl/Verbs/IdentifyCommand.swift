import ArgumentParser
import JunctionClient
import JunctionJSON
import JunctionProtocol

/// Makes a user of the app's the signed-in one.
struct IdentifyCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "identify",
        abstract: "Makes this user the signed-in one, whoever is signed in now.",
        discussion: """
            The command is run with /bin/sh, and only if a token is needed. It finds the id in \
            $\(variable) and prints a Sign-In Token. When it fails, nothing changes.
            """
    )

    /// Where the command finds whom the token is for.
    private static let variable = "JUNCTION_EXTERNAL_USER_ID"

    @Argument(help: ArgumentHelp("The user as your app names them.", valueName: "external-id"))
    var externalId: String?

    @Option(help: ArgumentHelp("A command that prints a Sign-In Token for that user.", valueName: "command"))
    var tokenCommand: String?

    @Flag(help: "Nobody: sign out.")
    var none = false

    @OptionGroup var options: GlobalOptions

    func validate() throws {
        let isSomebody = externalId?.isEmpty == false && tokenCommand != nil
        let isNobody = externalId == nil && tokenCommand == nil
        guard none ? isNobody : isSomebody else {
            throw ValidationError("give an id and a --token-command, or --none alone")
        }
    }

    func run() throws {
        var failure: (any Error)?
        let params = SessionIdentify.Params(externalUserId: externalId)
        let result: Connection.Answered<IdentifyResult>
        do {
            result = try options.ask(SessionIdentify.self, params) { question in
                guard question.name.stringEquals(SessionAuthenticate.name), let externalId, let tokenCommand else {
                    return .failure(.methodNotFound)
                }
                do {
                    let command = ShellCommand(line: tokenCommand, variables: [Self.variable: externalId])
                    return .success(Credential.signInToken(try command.secretOutput("Sign-In Token")))
                } catch {
                    failure = error
                    return .failure(WireError(.invalidCredential, "The caller has no credential"))
                }
            }
        } catch {
            // The daemon only knows that there was no token; the reason is on this side.
            throw failure ?? error
        }
        try options.show(result) { "\($0.outcome)\n\(SnapshotText($0.snapshot).paragraph)" }
        try result.value.snapshot.requireDurable("it is done, but a restart would undo it")
    }
}
