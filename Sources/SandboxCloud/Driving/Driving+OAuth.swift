import Crypto
import FoundationEssentials
import Hummingbird

/// The `/sandbox` endpoints of the OAuth server only: pending device sign-ins and clients.
extension Driving {
    func addDeviceRoutes(to router: Router<CloudContext>) {
        router.get("sandbox/oauth/devices") { _, _ in
            try Response.json(["devices": store.read { state, _ in state.devices.all }])
        }
        router.post("sandbox/oauth/devices/{code}/{verb}") { request, context in
            let (code, verb) = (try context.part("code"), try context.part("verb"))
            let person = try await request.order(Person.self).user
            return try store.change { state, moment in
                try state.decide(verb, code, as: person, now: moment.now)
                guard let device = state.devices.find(code) else {
                    throw Refusal.order("there is no device with the code '\(code)'", status: .notFound)
                }
                return try Response.json(device)
            }
        }
    }

    func addClientRoutes(to router: Router<CloudContext>) {
        router.get("sandbox/oauth/clients") { _, _ in
            try Response.json(["clients": store.read { state, _ in state.clients.all.map(RegisteredClient.init) }])
        }
        router.post("sandbox/oauth/clients") { request, _ in
            let client = try await request.order(NewClient.self).client()
            try store.change { state, _ in state.clients[client.id] = client }
            return try Response.json(RegisteredClient(client), status: .created)
        }
        router.delete("sandbox/oauth/clients/{client}") { _, context in
            let id = try context.part("client")
            return try store.change { state, _ in
                guard let client = state.clients[id] else {
                    throw Refusal.order("there is no client '\(id)'", status: .notFound)
                }
                state.clients[id] = nil
                return try Response.json(RegisteredClient(client))
            }
        }
    }
}

extension CloudState {
    fileprivate mutating func decide(_ verb: String, _ code: String, as person: String?, now: Date) throws {
        do {
            switch verb {
            case "approve":
                let user = try signIn(person ?? "", now: now)
                try devices.decide(.approved, by: user.userId, for: code, now: now)
            case "deny": try devices.decide(.denied, for: code, now: now)
            case "expire": devices.expire(code, now: now)
            default: throw HTTPError(.notFound)
            }
        } catch let refusal as TokenRefusal {
            throw Refusal.order(refusal.description, status: .conflict)
        }
    }
}

private struct Person: Decodable {
    var user: String?
}

private struct RegisteredClient: Encodable {
    let clientId: String
    let credential: String

    init(_ client: OAuthClient) {
        clientId = client.id
        credential = client.credential.name
    }
}

private struct NewClient: Decodable {
    var clientId: String
    var secret: String?
    /// A P-256 key in PEM.
    var publicKey: String?

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
