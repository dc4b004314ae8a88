import ArgumentParser
import JunctionClient
import JunctionJSON
import JunctionProtocol

/// Signs in the user with the app's own id for them.
struct IdentifyCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "identify",
        abstract: "Makes this user the signed-in one, whoever is signed in now.",
        discussion: """
            The command is run with /bin/sh, and only if a token is needed. It finds the id in \
            $\(variable) and prints what the daemon's provider takes: a Sign-In Token (Junction), an auth token \
            (social.plus, needed in secure mode only), a registration token (Sinch; without a command a session \
            handler is asked) or a refresh token (OAuth; with --subject-token-type a subject token, and without a \
            command a person approves it on another screen, as with 'sign-in --device'). When it fails, nothing changes.
            """
    )

    /// The variable that tells the command whose token is needed.
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

    @Flag(help: "OAuth: show a code with which a person approves it on another screen, and wait for that.")
    var device = false

    @Flag(help: "With a code: the address as a QR picture, too; needs the program qrencode.")
    var qr = false

    @Option(help: SubjectTokenType.help, completion: SubjectTokenType.completion)
    var subjectTokenType: String?

    @Flag(help: "Nobody: sign out.")
    var none = false

    @OptionGroup var options: GlobalOptions

    func validate() throws {
        let isAboutSomebody =
            [externalId, tokenCommand, userId, displayName, subjectTokenType].contains { $0 != nil } || device || qr
        guard none ? !isAboutSomebody : externalId?.isEmpty == false, userId?.isEmpty != true else {
            throw ValidationError("give an id, or --none alone")
        }
        guard !device || [tokenCommand, userId, displayName, subjectTokenType].allSatisfy({ $0 == nil }) else {
            throw ValidationError(
                "--device cannot be combined with --token-command, --user-id, --display-name or --subject-token-type"
            )
        }
    }

    func run() throws {
        let codes = try options.codes(asPicture: qr)
        var failure: (any Error)?
        // The command has the same deadline, because a later credential would be useless.
        let deadline = options.deadline
        let params = SessionIdentify.Params(externalUserId: externalId)
        let result: Connection.Answered<IdentifyResult>
        do {
            result = try options.ask(SessionIdentify.self, params) { question in
                failure = nil
                guard question.name.stringEquals(SessionAuthenticate.name), let externalId else {
                    return .failure(.methodNotFound)
                }
                do {
                    let credential =
                        try device
                        ? .device
                        : credential(
                            for: externalId,
                            of: .orUsual { try options.provider() },
                            by: deadline
                        )
                    // `session.identify` is answered only at the end. The codes are in the snapshots before that.
                    if credential == .device { try codes.showWhenThere(at: options.path) }
                    return .success(credential)
                } catch {
                    failure = error
                    return .failure(WireError(.invalidCredential, "The caller has no credential"))
                }
            }
        } catch {
            // The daemon only knows that there was no credential. This program has the reason.
            throw failure ?? error
        }
        try options.show(result) { "\($0.outcome)\n\(SnapshotText($0.snapshot).paragraph)" }
        result.value.snapshot.warnOfMissingHandler()
        PendingRestart(options)?.warn()
        try result.value.snapshot.requireDurable("it is done, but a restart would undo it")
    }

    /// Returns the credential for this user at this provider.
    ///
    /// - Parameter deadline: when the command must have ended.
    func credential(
        for externalId: String,
        of provider: Provider,
        by deadline: Deadline = .never
    ) throws -> Credential {
        let token = tokenCommand.map {
            SecretSource.command(
                ShellCommand(line: $0, variables: [Self.variable: externalId], deadline: deadline)
            )
        }
        switch provider {
        case .junction:
            guard let token, userId == nil, displayName == nil else {
                throw CommandFailure(
                    usage: "with Junction the user is the one of a Sign-In Token",
                    remedy: "give a --token-command that prints one, without --user-id and --display-name"
                )
            }
            return .signInToken(try token.read("Sign-In Token"))
        case .social:
            return .userLogin(
                userId: userId ?? externalId,
                displayName: displayName,
                authToken: try token?.read("auth token")
            )
        case .sinch:
            guard displayName == nil else {
                throw CommandFailure(
                    usage: "Sinch has no display names",
                    remedy: "leave --display-name out"
                )
            }
            return .registration(userId: userId ?? externalId, token: try token?.read("registration token"))
        case .oauth:
            guard userId == nil, displayName == nil, token != nil || subjectTokenType == nil else {
                throw CommandFailure(
                    usage: "with OAuth the user is the one of a token, or whoever approves",
                    remedy:
                        "leave --user-id and --display-name out, and give --subject-token-type with a --token-command"
                )
            }
            guard let token else { return .device }
            guard let subjectTokenType else { return .refreshToken(try token.read("refresh token")) }
            return .tokenExchange(
                subjectToken: try token.read("subject token"),
                subjectTokenType: SubjectTokenType.uri(subjectTokenType)
            )
        }
    }
}
