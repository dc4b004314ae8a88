import Crypto
import FoundationEssentials

/// An application that asks for tokens, as it was registered.
struct OAuthClient: Codable, Sendable {
    /// How it says who it is.
    enum Credential: Codable, Sendable {
        /// Not at all: a public client.
        case none
        /// By a secret, of which the fingerprint is kept; Basic and in the body are both good.
        case secret(String)
        /// By assertions that this P-256 key (PEM) signs.
        case publicKey(String)

        /// Its name in the `/sandbox` endpoints.
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

/// All clients.
struct OAuthClients: Codable, Sendable {
    private var clients: [String: OAuthClient]

    /// A public client and one with a secret, both known to everybody.
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

    /// The client that a request comes from, if it shows what it was registered with, and its assertion where it has a key.
    ///
    /// - Parameter audiences: to whom an assertion may be made out.
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
