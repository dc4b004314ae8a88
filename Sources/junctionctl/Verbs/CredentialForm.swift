import JunctionJSON
import JunctionProtocol

/// A credential whose secret has not been read yet.
enum CredentialForm {
    case signInToken(SecretSource)
    case linkCode(SecretSource)
    /// Without a source, the daemon uses its own key.
    case apiKey(SecretSource?, userId: String?, environment: String?, region: String?)
    case userLogin(userId: String, displayName: String?, authToken: SecretSource?)
    /// Without a source, the daemon asks a session handler for the token.
    case registration(userId: String, token: SecretSource?)
    case registrationSignature(userId: String, SecretSource)
    case selfSigned(userId: String)
    /// A person approves it on another screen.
    case device
    /// A person signs in on a page in a browser of this machine.
    case browser
    case refreshToken(SecretSource)
    case tokenExchange(SecretSource, type: String)
    /// Only a user id; the provider decides what it means.
    case userAlone(String)
    /// No option at all; the provider decides what that means.
    case bare

    /// Returns the form with the missing parts chosen by the daemon's provider.
    func resolved(by provider: () throws -> Provider) throws -> CredentialForm {
        switch self {
        case .signInToken, .linkCode, .apiKey, .userLogin, .registration, .registrationSignature, .selfSigned,
            .device, .browser, .refreshToken, .tokenExchange:
            return self
        case .userAlone(let userId): return try provider().signIn(ofUserAlone: userId)
        case .bare: return try Provider.orUsual(provider).bareSignIn
        }
    }

    /// Reads the secret.
    ///
    /// - Parameter browser: signs a user in on a page.
    func read(browser: () throws -> Credential = { preconditionFailure("No page was asked for") }) throws -> Credential
    {
        switch self {
        case .signInToken(let source):
            .signInToken(try source.read("Sign-In Token"))
        case .linkCode(let source):
            .linkCode(try source.read("link code"))
        case .apiKey(let source, let userId, let environment, let region):
            .apiKey(try source?.read("API key"), userId: userId, environment: environment, region: region)
        case .userLogin(let userId, let displayName, let source):
            .userLogin(userId: userId, displayName: displayName, authToken: try source?.read("auth token"))
        case .registration(let userId, let source):
            .registration(userId: userId, token: try source?.read("registration token"))
        case .registrationSignature(let userId, let source):
            try Credential(signatureOf: userId, try source.read("registration signature"))
        case .selfSigned(let userId):
            .selfSigned(userId: userId)
        case .device:
            .device
        case .browser:
            try browser()
        case .refreshToken(let source):
            .refreshToken(try source.read("refresh token"))
        case .tokenExchange(let source, let type):
            .tokenExchange(subjectToken: try source.read("subject token"), subjectTokenType: type)
        case .userAlone, .bare:
            preconditionFailure("The form was not resolved before it was read")
        }
    }
}

extension Credential {
    /// Reads the file of an application server for the legacy scheme: `{"signature":…,"sequence":"…"}`.
    fileprivate init(signatureOf userId: String, _ file: SecretText) throws {
        do {
            let members = try Members(try file.withUnsafeBytes { try JSONValue.parse($0) }, at: "")
            self = .registrationSignature(
                userId: userId,
                signature: try members.secret("signature"),
                sequence: try members.sequence("sequence")
            )
        } catch {
            let reason = (error as? WireMismatch)?.description ?? "it is not JSON"
            throw CommandFailure(
                "the registration signature cannot be read: \(reason)",
                kind: "secretUnreadable",
                remedy: #"it is a JSON object: {"signature":"…","sequence":"…"}, the sequence in decimal"#,
                status: .usage
            )
        }
    }
}
