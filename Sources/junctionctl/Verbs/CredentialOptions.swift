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

    @Flag(help: "OAuth: show a code with which a person approves the sign-in on another screen, and wait for that.")
    var device = false

    @Flag(help: "OAuth: have a person sign in on a page in a browser on this machine.")
    var browser = false

    @Option(
        help: ArgumentHelp("OAuth: take over the login of another tool; read its refresh token.", valueName: "file"),
        completion: .file()
    )
    var refreshTokenFile: String?

    @Option(
        help: ArgumentHelp(
            "OAuth: exchange somebody else's token for the user; read it from a file.",
            valueName: "file"
        ),
        completion: .file()
    )
    var subjectTokenFile: String?

    @Option(help: SubjectTokenType.help, completion: SubjectTokenType.completion)
    var subjectTokenType: String?

    /// What the options add up to.
    func form() throws -> CredentialForm {
        try refuseMixtures()
        if linkCode { return .linkCode(.standardInput) }
        if device { return .device }
        if browser { return .browser }
        if let refreshTokenFile {
            return .refreshToken(SecretSource(file: refreshTokenFile, of: "--refresh-token-file"))
        }
        if subjectTokenFile != nil || subjectTokenType != nil { return try tokenExchange() }
        if apiKeyFile != nil || environment != nil || region != nil { return try apiKey() }
        guard let userId else {
            guard !isAboutUser else { throw ValidationError("that needs the --user-id it is about") }
            return tokenFile.map { .signInToken(SecretSource(file: $0, of: "--token-file")) } ?? .bare
        }
        if isLogin {
            let source = authTokenFile.map { SecretSource(file: $0, of: "--auth-token-file") }
            return .userLogin(userId: userId, displayName: displayName, authToken: source)
        }
        if let registrationTokenFile {
            return .registration(
                userId: userId,
                token: SecretSource(file: registrationTokenFile, of: "--registration-token-file")
            )
        }
        if let registrationSignatureFile {
            return .registrationSignature(
                userId: userId,
                SecretSource(file: registrationSignatureFile, of: "--registration-signature-file")
            )
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
            registrationSignatureFile != nil, selfSigned, device, browser, refreshTokenFile != nil,
            subjectTokenFile != nil || subjectTokenType != nil,
        ]
        let namesUser = [
            tokenFile != nil, linkCode, device, browser, refreshTokenFile != nil, subjectTokenFile != nil,
        ]
        let isOfUserAlone = userId != nil && namesUser.contains(true)
        guard ways.count(where: { $0 }) <= 1, !isOfUserAlone else {
            throw ValidationError("these options are of different ways to sign in")
        }
    }

    private func tokenExchange() throws -> CredentialForm {
        guard let subjectTokenFile, let subjectTokenType else {
            throw ValidationError("--subject-token-file and --subject-token-type belong together")
        }
        return .tokenExchange(
            SecretSource(file: subjectTokenFile, of: "--subject-token-file"),
            type: SubjectTokenType.uri(subjectTokenType)
        )
    }

    private func apiKey() throws -> CredentialForm {
        guard apiKeyFile != nil || userId != nil else {
            throw ValidationError("--environment and --region belong to an API key; a token names them itself")
        }
        guard apiKeyFile == nil || (environment != nil && region != nil) else {
            throw ValidationError("an API key needs --environment and --region")
        }
        let source = apiKeyFile.map { SecretSource(file: $0, of: "--api-key-file") }
        return .apiKey(source, userId: userId, environment: environment, region: region)
    }
}

/// What a token is that is exchanged for one of ours (RFC 8693 §3).
enum SubjectTokenType {
    static let help = ArgumentHelp(
        "OAuth: what the subject token is: a URI, or the last word of one of RFC 8693 (jwt, id_token, access_token …).",
        valueName: "type"
    )

    static let completion = CompletionKind.list(["access_token", "id_token", "jwt", "refresh_token", "saml1", "saml2"])

    /// The type as it is on the wire.
    static func uri(_ type: String) -> String {
        type.contains(":") ? type : "urn:ietf:params:oauth:token-type:\(type)"
    }
}
