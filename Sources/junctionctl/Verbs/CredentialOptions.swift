import ArgumentParser

/// The options of `sign-in` that say what the user signs in with.
struct CredentialOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp("Read the Sign-In Token from a file.", valueName: "file"),
        completion: .file()
    )
    var tokenFile: String?

    @Flag(help: "Read the twelve characters of a link code from standard input.")
    var linkCode = false

    @Option(
        help: ArgumentHelp("Read a team API key from a file; for evaluation only.", valueName: "file"),
        completion: .file()
    )
    var apiKeyFile: String?

    @Option(help: ArgumentHelp("The user; a token or a link code names them itself.", valueName: "id"))
    var userId: String?

    @Option(
        help: ArgumentHelp("With an API key: sandbox or production.", valueName: "name"),
        completion: .list(["sandbox", "production"])
    )
    var environment: String?

    @Option(help: ArgumentHelp("With an API key: us or eu.", valueName: "name"), completion: .list(["us", "eu"]))
    var region: String?

    @Option(help: ArgumentHelp("social.plus: what others read in place of the id.", valueName: "name"))
    var displayName: String?

    @Option(
        help: ArgumentHelp("social.plus: read the auth token of secure mode from a file.", valueName: "file"),
        completion: .file()
    )
    var authTokenFile: String?

    @Option(
        help: ArgumentHelp(
            "Sinch: read your backend's registration token from a file. Without it a session handler is asked.",
            valueName: "file"
        ),
        completion: .file()
    )
    var registrationTokenFile: String?

    @Option(
        help: ArgumentHelp(
            "Sinch, legacy: read {\"signature\":…,\"sequence\":\"…\"} from a file. Use a registration token instead.",
            valueName: "file"
        ),
        completion: .file()
    )
    var registrationSignatureFile: String?

    @Flag(
        help: """
            Sinch, discouraged: the daemon signs with the application's secret, which every device then has. \
            For trying things out.
            """
    )
    var selfSigned = false

    /// What the options add up to.
    func form() throws -> CredentialForm {
        try refuseMixtures()
        if linkCode { return .linkCode(.standardInput) }
        if apiKeyFile != nil || environment != nil || region != nil { return try apiKey() }
        guard let userId else {
            guard !isAboutUser else { throw ValidationError("that needs the --user-id it is about") }
            return tokenFile.map { .signInToken(SecretSource(file: $0)) } ?? .bare
        }
        if isLogin {
            let source = authTokenFile.map { SecretSource(file: $0) }
            return .userLogin(userId: userId, displayName: displayName, authToken: source)
        }
        if let registrationTokenFile {
            return .registration(userId: userId, token: SecretSource(file: registrationTokenFile))
        }
        if let registrationSignatureFile {
            return .registrationSignature(userId: userId, SecretSource(file: registrationSignatureFile))
        }
        return selfSigned ? .selfSigned(userId: userId) : .userAlone(userId)
    }

    /// Whether there is something that makes sense with a user only.
    private var isAboutUser: Bool {
        isLogin || registrationTokenFile != nil || registrationSignatureFile != nil || selfSigned
    }

    private var isLogin: Bool { displayName != nil || authTokenFile != nil }

    private func refuseMixtures() throws {
        let isApiKey = apiKeyFile != nil || environment != nil || region != nil
        let ways = [
            tokenFile != nil, linkCode, isApiKey, isLogin, registrationTokenFile != nil,
            registrationSignatureFile != nil, selfSigned,
        ]
        let isOfUserAlone = userId != nil && (tokenFile != nil || linkCode)
        guard ways.count(where: { $0 }) <= 1, !isOfUserAlone else {
            throw ValidationError("these options are of different ways to sign in")
        }
    }

    private func apiKey() throws -> CredentialForm {
        guard apiKeyFile != nil || userId != nil else {
            throw ValidationError("--environment and --region belong to an API key; a token names them itself")
        }
        guard apiKeyFile == nil || (environment != nil && region != nil) else {
            throw ValidationError("an API key needs --environment and --region")
        }
        let source = apiKeyFile.map { SecretSource(file: $0) }
        return .apiKey(source, userId: userId, environment: environment, region: region)
    }
}
