import ArgumentParser
import JunctionProtocol

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

    @Option(
        help: ArgumentHelp(
            "With an API key: the user. Without one, the key that was given before is used.",
            valueName: "uuid"
        )
    )
    var userId: String?

    @Option(
        help: ArgumentHelp("With an API key: sandbox or production.", valueName: "name"),
        completion: .list(["sandbox", "production"])
    )
    var environment: String?

    @Option(help: ArgumentHelp("With an API key: us or eu.", valueName: "name"), completion: .list(["us", "eu"]))
    var region: String?

    /// What the options add up to.
    func form() throws -> CredentialForm {
        let named = [tokenFile != nil, linkCode, apiKeyFile != nil || userId != nil]
        guard named.count(where: { $0 }) <= 1 else {
            throw ValidationError("--token-file, --link-code and an API key exclude each other")
        }
        if linkCode { return try withoutKeyOptions(.linkCode(.standardInput)) }
        if let apiKeyFile {
            guard environment != nil, region != nil else {
                throw ValidationError("an API key needs --environment and --region")
            }
            let source = SecretSource(file: apiKeyFile)
            return .apiKey(source, userId: userId, environment: environment, region: region)
        }
        if userId != nil {
            return .apiKey(nil, userId: userId, environment: environment, region: region)
        }
        return try withoutKeyOptions(.signInToken(SecretSource(file: tokenFile)))
    }

    private func withoutKeyOptions(_ form: CredentialForm) throws -> CredentialForm {
        guard environment == nil, region == nil else {
            throw ValidationError("--environment and --region belong to an API key; a token names them itself")
        }
        return form
    }
}

/// A credential whose secret has not been read yet.
enum CredentialForm {
    case signInToken(SecretSource)
    case linkCode(SecretSource)
    /// Without a source the daemon uses the key that it has.
    case apiKey(SecretSource?, userId: String?, environment: String?, region: String?)

    /// Reads the secret.
    func read() throws -> Credential {
        switch self {
        case .signInToken(let source):
            .signInToken(try source.read("Sign-In Token"))
        case .linkCode(let source):
            .linkCode(try source.read("link code"))
        case .apiKey(let source, let userId, let environment, let region):
            .apiKey(try source?.read("API key"), userId: userId, environment: environment, region: region)
        }
    }
}
