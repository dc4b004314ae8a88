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

/// All clients, and the assertions that were shown once.
struct OAuthClients: Codable, Sendable {
    private var clients: [String: OAuthClient]
    /// Until when an assertion could come again, by the fingerprint of its client and `jti`; seconds since 1970.
    private var assertions: [String: Int64] = [:]

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

    /// The client that a request comes from, if it shows what it was registered with.
    ///
    /// - Parameters:
    ///   - audiences: to whom an assertion may be made out.
    ///   - now: seconds since 1970, on the clock of the `Date` header.
    mutating func authenticate(
        _ shown: ShownClient,
        audiences: Set<String>,
        now: Int64
    ) throws(OAuthRefusal) -> OAuthClient {
        guard let client = clients[shown.id] else {
            throw OAuthError.invalidClient.because("there is no client '\(shown.id)'")
        }
        switch (client.credential, shown.proof) {
        case (.none, .nothing): break
        case (.secret(let fingerprint), .basic(let secret)), (.secret(let fingerprint), .post(let secret)):
            guard TokenText.fingerprint(secret) == fingerprint else {
                throw OAuthError.invalidClient.because("the client secret is wrong")
            }
        case (.publicKey(let pem), .assertion(let jwt)):
            let assertion = try ClientAssertion(jwt, of: client.id, key: pem, audiences: audiences, now: now)
            try spend(assertion, of: client.id, now: now)
        case (.none, _), (.secret, _), (.publicKey, _):
            throw OAuthError.invalidClient.because(
                "'\(client.id)' is registered with credential \(client.credential.name)"
            )
        }
        return client
    }

    private mutating func spend(_ assertion: ClientAssertion, of client: String, now: Int64) throws(OAuthRefusal) {
        assertions = assertions.filter { now < $0.value }
        let name = TokenText.fingerprint("\(client) \(assertion.id)")
        guard assertions.updateValue(assertion.expiresAt, forKey: name) == nil else {
            throw OAuthError.invalidClient.because("the assertion was used before")
        }
    }
}
