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
            $\(variable) and prints what the daemon's provider takes: a Sign-In Token (Junction), an auth token \
            (social.plus, needed in secure mode only) or a registration token (Sinch; without a command a session \
            handler is asked). When it fails, nothing changes.
            """
    )

    /// Where the command finds whom the token is for.
    private static let variable = "JUNCTION_EXTERNAL_USER_ID"

    @Argument(help: ArgumentHelp("The user as your app names them.", valueName: "external-id"))
    var externalId: String?

    @Option(help: ArgumentHelp("A command that prints a token for that user.", valueName: "command"))
    var tokenCommand: String?

    @Option(
        help: ArgumentHelp(
            "social.plus, Sinch: the user as the provider names them, if that is not the same.",
            valueName: "id"
        )
    )
    var userId: String?

    @Option(help: ArgumentHelp("social.plus: what others read in place of the id.", valueName: "name"))
    var displayName: String?

    @Flag(help: "Nobody: sign out.")
    var none = false

    @OptionGroup var options: GlobalOptions

    func validate() throws {
        let isAboutSomebody = [externalId, tokenCommand, userId, displayName].contains { $0 != nil }
        guard none ? !isAboutSomebody : externalId?.isEmpty == false, userId?.isEmpty != true else {
            throw ValidationError("give an id, or --none alone")
        }
    }

    func run() throws {
        var failure: (any Error)?
        let params = SessionIdentify.Params(externalUserId: externalId)
        let result: Connection.Answered<IdentifyResult>
        do {
            result = try options.ask(SessionIdentify.self, params) { question in
                failure = nil
                guard question.name.stringEquals(SessionAuthenticate.name), let externalId else {
                    return .failure(.methodNotFound)
                }
                do {
                    return .success(try form(for: externalId, of: .orUsual { try options.provider() }).read())
                } catch {
                    failure = error
                    return .failure(WireError(.invalidCredential, "The caller has no credential"))
                }
            }
        } catch {
            // The daemon only knows that there was no credential; the reason is on this side.
            throw failure ?? error
        }
        try options.show(result) { "\($0.outcome)\n\(SnapshotText($0.snapshot).paragraph)" }
        try result.value.snapshot.requireDurable("it is done, but a restart would undo it")
    }

    /// What this user signs in with at this provider.
    func form(for externalId: String, of provider: Provider) throws -> CredentialForm {
        let token = tokenCommand.map {
            SecretSource.command(ShellCommand(line: $0, variables: [Self.variable: externalId]))
        }
        switch provider {
        case .junction:
            guard let token, userId == nil, displayName == nil else {
                throw CommandFailure(
                    "with Junction the user is the one of a Sign-In Token",
                    kind: "usage",
                    remedy: "give a --token-command that prints one, without --user-id and --display-name",
                    status: .usage
                )
            }
            return .signInToken(token)
        case .social:
            return .userLogin(userId: userId ?? externalId, displayName: displayName, authToken: token)
        case .sinch:
            guard displayName == nil else {
                throw CommandFailure(
                    "Sinch has no display names",
                    kind: "usage",
                    remedy: "leave --display-name out",
                    status: .usage
                )
            }
            return .registration(userId: userId ?? externalId, token: token)
        }
    }
}
