import JunctionSecret

/// This daemon as a client of the server: its id, and its authentication (RFC 6749 §2.3, RFC 7523).
struct OAuthClient: Sendable {
    let id: String
    private let proof: Proof

    private enum Proof: Sendable {
        /// A public client, which has no authentication.
        case none
        case basic(SharedSecret)
        case post(SharedSecret)
        case assertion(ClientKey, AssertionAudience)
    }

    init(_ settings: ProviderSettings) throws(ProviderConfigurationFault) {
        guard let id = settings["clientId"] else {
            throw ProviderConfigurationFault(
                "oauth.clientId is missing: the server gives it to a client that is registered"
            )
        }
        guard id.utf8.allSatisfy({ (0x20...0x7E).contains($0) }) else {
            throw ProviderConfigurationFault("oauth.clientId: a client id has printable ASCII characters only")
        }
        self.id = id
        switch settings["clientAuthentication"] ?? "none" {
        case "basic": proof = .basic(try Self.secret(settings, for: "basic"))
        case "post": proof = .post(try Self.secret(settings, for: "post"))
        case "privateKeyJwt":
            let audience = settings["assertionAudience"].flatMap(AssertionAudience.init) ?? .issuer
            proof = .assertion(try Self.key(settings), audience)
        default:
            for key in ["clientSecretFile", "clientKeyFile"] where settings[key] != nil {
                throw ProviderConfigurationFault(
                    "oauth.\(key) is set, but oauth.clientAuthentication is \"none\": say how the client authenticates "
                        + "(\"basic\", \"post\" or \"privateKeyJwt\"), or remove the setting or the credential"
                )
            }
            proof = .none
        }
    }

    private static func secret(
        _ settings: ProviderSettings,
        for method: String
    ) throws(ProviderConfigurationFault) -> SharedSecret {
        guard let secret = try settings.secret("clientSecretFile", orCredential: OAuthSetup.secretCredential) else {
            throw ProviderConfigurationFault(
                "oauth.clientAuthentication = \"\(method)\" needs the client's secret: set oauth.clientSecretFile, or pass "
                    + "the service manager's credential \(OAuthSetup.secretCredential)",
                missingCredential: OAuthSetup.secretCredential
            )
        }
        guard secret.withUnsafeBytes({ $0.allSatisfy { (0x20...0x7E).contains($0) } }) else {
            throw ProviderConfigurationFault("oauth.clientSecretFile: a client secret is one line of printable ASCII")
        }
        return secret
    }

    private static func key(_ settings: ProviderSettings) throws(ProviderConfigurationFault) -> ClientKey {
        let file = try settings.secret(
            "clientKeyFile",
            orCredential: OAuthSetup.keyCredential,
            expecting: "the private key in PEM form"
        )
        guard let file else {
            throw ProviderConfigurationFault(
                "oauth.clientAuthentication = \"privateKeyJwt\" needs the client's key: set oauth.clientKeyFile, or pass "
                    + "the service manager's credential \(OAuthSetup.keyCredential)",
                missingCredential: OAuthSetup.keyCredential
            )
        }
        return try ProviderConfigurationFault.naming("oauth.clientKeyFile", ClientKey(pem: file))
    }
}

/// The audience of a client assertion. Servers differ in what they expect.
package enum AssertionAudience: String, Sendable, CaseIterable {
    /// The issuer, as the revision of RFC 7523 requires.
    case issuer
    /// The URL of the endpoint.
    case endpoint
}

extension OAuthClient {
    /// Returns the client authentication for one request to an endpoint. An assertion is never sent twice.
    ///
    /// The body always contains the client id: a public client has nothing else, some endpoints require it, and no
    /// known endpoint refuses it. The secret is sent in one place only.
    func authentication(
        at endpoint: HTTPURL,
        of issuer: OAuthIssuer,
        now: Int64
    ) -> (fields: [FormBody.Field], credentials: [(name: String, value: SharedSecret)]) {
        let name = FormBody.Field.text(name: "client_id", value: id)
        switch proof {
        case .none:
            return ([name], [])
        case .basic(let secret):
            return ([name], [("authorization", BasicCredentials.of(id, secret))])
        case .post(let secret):
            return ([name, .secret(name: "client_secret", value: secret)], [])
        case .assertion(let key, let audience):
            let aud =
                switch audience {
                case .issuer: issuer.text
                case .endpoint: endpoint.text
                }
            let type = "urn:ietf:params:oauth:client-assertion-type:jwt-bearer"
            let assertion = ClientAssertion(clientId: id, audience: aud, now: now)
            return (
                [
                    name, .text(name: "client_assertion_type", value: type),
                    .secret(name: "client_assertion", value: assertion.signed(by: key)),
                ], []
            )
        }
    }
}
