import ArgumentParser
import JunctionProtocol

/// The options of `sign-in` for the credential.
struct CredentialOptions: ParsableArguments {
    @OptionGroup(title: Provider.heading(.junction)) var junction: JunctionOptions
    @OptionGroup(title: Provider.heading(.junction, .social, .sinch)) var user: UserOptions
    @OptionGroup(title: Provider.heading(.social)) var social: SocialOptions
    @OptionGroup(title: Provider.heading(.sinch)) var sinch: SinchOptions
    @OptionGroup(title: Provider.heading(.oauth)) var oauth: OAuthOptions

    struct JunctionOptions: ParsableArguments {
        @Option(
            help: ArgumentHelp(
                "Junction: read the Sign-In Token, or the backend's answer that holds it, from a file.",
                valueName: "file"
            ),
            completion: .file()
        )
        var tokenFile: String?

        @Flag(help: "Junction: read the twelve characters of a link code from standard input.")
        var linkCode = false

        @Option(
            help: ArgumentHelp("Junction: read a team API key from a file; for evaluation only.", valueName: "file"),
            completion: .file()
        )
        var apiKeyFile: String?

        @Option(
            help: ArgumentHelp("Junction: with an API key: sandbox, production or dev.", valueName: "name"),
            completion: .list(["sandbox", "production", "dev"])
        )
        var environment: String?

        @Option(
            help: ArgumentHelp("Junction: with an API key: us or eu.", valueName: "name"),
            completion: .list(["us", "eu"])
        )
        var region: String?

        var isApiKey: Bool { apiKeyFile != nil || environment != nil || region != nil }
    }

    /// The user id, for credentials that do not contain it.
    struct UserOptions: ParsableArguments {
        @Option(help: ArgumentHelp("The user; a token or a link code names them itself.", valueName: "id"))
        var userId: String?
    }

    struct SocialOptions: ParsableArguments {
        @Option(help: ArgumentHelp("social.plus: what others read in place of the id.", valueName: "name"))
        var displayName: String?

        @Option(
            help: ArgumentHelp("social.plus: read the auth token of secure mode from a file.", valueName: "file"),
            completion: .file()
        )
        var authTokenFile: String?

        var isLogin: Bool { displayName != nil || authTokenFile != nil }
    }

    struct SinchOptions: ParsableArguments {
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
    }

    struct OAuthOptions: ParsableArguments {
        @Flag(
            help: "OAuth: show a code with which a person approves the sign-in on another screen, and wait for that."
        )
        var device = false

        @Flag(help: "OAuth: with --device: the address as a QR picture, too; needs the program qrencode.")
        var qr = false

        @Flag(help: "OAuth: with --device: print the codes, and do not wait for the approval.")
        var noWait = false

        @Flag(help: "OAuth: have a person sign in on a page in a browser on this machine.")
        var browser = false

        @Option(
            help: ArgumentHelp(
                "OAuth: take over the login of another tool; read its refresh token.",
                valueName: "file"
            ),
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

        var isExchange: Bool { subjectTokenFile != nil || subjectTokenType != nil }
    }

    /// Returns the credential that the options describe.
    func form() throws -> CredentialForm {
        try refuseMixtures()
        if junction.linkCode { return .secret(.standardInput, "link code", Credential.linkCode) }
        if oauth.device { return .complete(.device) }
        if oauth.browser { return .browser }
        if let refreshTokenFile = oauth.refreshTokenFile {
            let source = SecretSource(file: refreshTokenFile, of: "--refresh-token-file")
            return .secret(source, "refresh token", Credential.refreshToken)
        }
        if oauth.isExchange { return try tokenExchange() }
        if junction.isApiKey { return try apiKey() }
        guard let userId = user.userId else {
            guard !isAboutUser else { throw ValidationError("these options need --user-id") }
            return junction.tokenFile.map {
                .secret(SecretSource(file: $0, of: "--token-file"), "Sign-In Token", Credential.signInToken)
            } ?? .bare
        }
        if social.isLogin {
            let source = social.authTokenFile.map { SecretSource(file: $0, of: "--auth-token-file") }
            return .optional(source, "auth token") {
                .userLogin(userId: userId, displayName: social.displayName, authToken: $0)
            }
        }
        if let registrationTokenFile = sinch.registrationTokenFile {
            let source = SecretSource(file: registrationTokenFile, of: "--registration-token-file")
            return .secret(source, "registration token") { .registration(userId: userId, token: $0) }
        }
        if let registrationSignatureFile = sinch.registrationSignatureFile {
            let source = SecretSource(file: registrationSignatureFile, of: "--registration-signature-file")
            return .secret(source, "registration signature") { try Credential(signatureOf: userId, $0) }
        }
        return sinch.selfSigned ? .complete(.selfSigned(userId: userId)) : .userAlone(userId)
    }

    /// Whether there is an option that needs a user id.
    private var isAboutUser: Bool {
        social.isLogin || sinch.registrationTokenFile != nil || sinch.registrationSignatureFile != nil
            || sinch.selfSigned
    }

    private func refuseMixtures() throws {
        let ways = [
            junction.tokenFile != nil, junction.linkCode, junction.isApiKey, social.isLogin,
            sinch.registrationTokenFile != nil, sinch.registrationSignatureFile != nil, sinch.selfSigned, oauth.device,
            oauth.browser, oauth.refreshTokenFile != nil, oauth.isExchange,
        ]
        let namesUser = [
            junction.tokenFile != nil, junction.linkCode, oauth.device, oauth.browser, oauth.refreshTokenFile != nil,
            oauth.subjectTokenFile != nil,
        ]
        let isOfUserAlone = user.userId != nil && namesUser.contains(true)
        guard ways.count(where: { $0 }) <= 1, !isOfUserAlone else {
            throw ValidationError("these options are of different ways to sign in")
        }
    }

    private func tokenExchange() throws -> CredentialForm {
        guard let file = oauth.subjectTokenFile, let type = oauth.subjectTokenType else {
            throw ValidationError("--subject-token-file and --subject-token-type belong together")
        }
        return .secret(SecretSource(file: file, of: "--subject-token-file"), "subject token") {
            .tokenExchange(subjectToken: $0, subjectTokenType: SubjectTokenType.uri(type))
        }
    }

    private func apiKey() throws -> CredentialForm {
        guard junction.apiKeyFile != nil || user.userId != nil else {
            throw ValidationError("--environment and --region belong to an API key; a token names them itself")
        }
        guard junction.apiKeyFile == nil || (junction.environment != nil && junction.region != nil) else {
            throw ValidationError("an API key needs --environment and --region")
        }
        let source = junction.apiKeyFile.map { SecretSource(file: $0, of: "--api-key-file") }
        return .optional(source, "API key") {
            .apiKey($0, userId: user.userId, environment: junction.environment, region: junction.region)
        }
    }
}

/// The type of a token that is exchanged (RFC 8693 §3).
enum SubjectTokenType {
    static let help = ArgumentHelp(
        "OAuth: what the subject token is: a URI, or the last word of one of RFC 8693 (jwt, id_token, access_token …).",
        valueName: "type"
    )

    static let completion = CompletionKind.list(["access_token", "id_token", "jwt", "refresh_token", "saml1", "saml2"])

    /// Returns the type's URI, which is its form on the wire.
    static func uri(_ type: String) -> String {
        type.contains(":") ? type : "urn:ietf:params:oauth:token-type:\(type)"
    }
}
