import Crypto
import FoundationEssentials
import Hummingbird

extension OAuthCloud {
    /// Registering clients, changing what they show, and dropping them.
    func addClientDriving(to router: Router<CloudContext>) {
        router.get("sandbox/oauth/clients") { _, _ in
            try Response.json(["clients": ledger.read { state, _ in state.oauth.clients.all.map(DrivenClient.init) }])
        }
        router.post("sandbox/oauth/clients") { request, _ in
            let client = try await request.order(ClientWishes.self).client()
            try ledger.change { state, _ in state.oauth.clients[client.id] = client }
            return try Response.json(DrivenClient(client), status: .created)
        }
        router.delete("sandbox/oauth/clients/{client}") { _, context in
            let id = PercentText.plain(try context.parameters.require("client"))
            return try ledger.change { state, _ in
                guard let client = state.oauth.clients[id] else {
                    throw Refusal.order("there is no client '\(id)'", status: .notFound)
                }
                state.oauth.clients[id] = nil
                return try Response.json(DrivenClient(client))
            }
        }
    }
}

/// A client as the `/sandbox` endpoints show it.
private struct DrivenClient: Encodable {
    let clientId: String
    let credential: String

    init(_ client: OAuthClient) {
        clientId = client.id
        credential = client.credential.name
    }
}

private struct ClientWishes: Order {
    var clientId: String
    var secret: String?
    /// PEM, of a P-256 key.
    var publicKey: String?

    enum CodingKeys: String, CodingKey, CaseIterable {
        case clientId
        case secret
        case publicKey
    }

    func client() throws(Refusal) -> OAuthClient {
        switch (secret, publicKey) {
        case (nil, nil): return OAuthClient(id: clientId, credential: .none)
        case (let secret?, nil):
            return OAuthClient(id: clientId, credential: .secret(TokenText.fingerprint(secret)))
        case (nil, let pem?):
            guard (try? P256.Signing.PublicKey(pemRepresentation: pem)) != nil else {
                throw .order("publicKey is not the PEM text of a public P-256 key")
            }
            return OAuthClient(id: clientId, credential: .publicKey(pem))
        case (_?, _?): throw .order("a client has a secret or a publicKey, not both")
        }
    }
}
