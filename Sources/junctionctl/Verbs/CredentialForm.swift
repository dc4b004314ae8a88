import JunctionJSON
import JunctionProtocol

/// A credential whose secret has not been read yet.
enum CredentialForm {
    /// A secret with its name for the prompt and for errors, and the credential that it makes.
    case secret(SecretSource, String, (SecretText) throws -> Credential)
    /// Nothing has to be read.
    case complete(Credential)
    /// A person signs in on a page in a browser of this machine.
    case browser
    /// Only a user id; the provider decides what it means.
    case userAlone(String)
    /// No option at all; the provider decides what that means.
    case bare

    /// Returns the form of a credential with a secret that may be left out.
    static func optional(
        _ source: SecretSource?,
        _ name: String,
        _ credential: @escaping (SecretText?) -> Credential
    ) -> CredentialForm {
        source.map { .secret($0, name, credential) } ?? .complete(credential(nil))
    }

    /// Returns the form with the missing parts chosen by the daemon's provider.
    func resolved(by provider: () throws -> Provider) throws -> CredentialForm {
        switch self {
        case .secret, .complete, .browser: return self
        case .userAlone(let userId): return .complete(try provider().signIn(ofUserAlone: userId))
        case .bare: return try Provider.orUsual(provider).bareSignIn
        }
    }

    /// Reads the secret.
    ///
    /// - Parameter browser: signs a user in on a page.
    func read(browser: () throws -> Credential = { preconditionFailure("No page was asked for") }) throws -> Credential
    {
        switch self {
        case .secret(let source, let name, let credential): try credential(source.read(name))
        case .complete(let credential): credential
        case .browser: try browser()
        case .userAlone, .bare: preconditionFailure("The form was not resolved before it was read")
        }
    }
}

extension Credential {
    /// Reads the file of an application server for the legacy scheme: `{"signature":…,"sequence":"…"}`.
    init(signatureOf userId: String, _ file: SecretText) throws {
        do {
            let members = try Members(try file.withUnsafeBytes { try JSONValue.parse($0) }, at: "", named: "file")
            self = .registrationSignature(
                userId: userId,
                signature: try members.secret("signature"),
                sequence: try members.sequence("sequence")
            )
        } catch {
            let reason = (error as? WireMismatch)?.description ?? "it is not JSON"
            throw CommandFailure(
                unreadable: "registration signature",
                reason,
                remedy: #"it is a JSON object: {"signature":"…","sequence":"…"}, the sequence in decimal"#
            )
        }
    }
}
