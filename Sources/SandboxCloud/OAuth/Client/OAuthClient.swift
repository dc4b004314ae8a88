import Crypto
import FoundationEssentials

struct OAuthClient: Codable, Sendable {
    enum Credential: Codable, Sendable {
        /// No authentication: a public client.
        case none
        /// A client secret, of which only the fingerprint is stored. The client may send it by Basic or in the body.
        case secret(String)
        /// Assertions signed by this P-256 key (PEM).
        case publicKey(String)

        /// The name in the `/sandbox` endpoints.
        var name: String {
            switch self {
            case .none: "none"
            case .secret: "secret"
            case .publicKey: "privateKeyJwt"
            }
        }
    }

    let id: String
    let credential: Credential
}

struct OAuthClients: Codable, Sendable {
    private var clients: [String: OAuthClient]

    /// Registers a public client and a client with a published secret.
    init() {
        let usual = [
            OAuthClient(id: "sandbox-public", credential: .none),
            OAuthClient(id: "sandbox-confidential", credential: .secret(TokenText.fingerprint("sandbox-secret"))),
        ]
        clients = Dictionary(uniqueKeysWithValues: usual.map { ($0.id, $0) })
    }

    var all: [OAuthClient] { clients.values.sorted { $0.id < $1.id } }

    subscript(id: String) -> OAuthClient? {
        get { clients[id] }
        set { clients[id] = newValue }
    }

    /// Authenticates the client of a request. Returns the client, and its assertion if it has a key.
    ///
    /// - Parameter audiences: The accepted audiences of an assertion.
    func authenticate(
        _ shown: ShownClient,
        audiences: Set<String>,
        at moment: Moment
    ) throws(TokenRefusal) -> (client: OAuthClient, assertion: ClientAssertion?) {
        guard let client = clients[shown.id] else {
            throw TokenError.invalidClient.because("there is no client '\(shown.id)'")
        }
        switch (client.credential, shown.proof) {
        case (.none, .nothing): return (client, nil)
        case (.secret(let fingerprint), .basic(let secret)), (.secret(let fingerprint), .post(let secret)):
            guard TokenText.fingerprint(secret) == fingerprint else {
                throw TokenError.invalidClient.because("the client secret is wrong")
            }
            return (client, nil)
        case (.publicKey(let pem), .assertion(let jwt)):
            let now = moment.stated(moment.now).second
            return (client, try ClientAssertion(jwt, of: client.id, key: pem, audiences: audiences, now: now))
        case (.none, _), (.secret, _), (.publicKey, _):
            throw TokenError.invalidClient.because(
                "'\(client.id)' is registered with credential \(client.credential.name)"
            )
        }
    }
}
