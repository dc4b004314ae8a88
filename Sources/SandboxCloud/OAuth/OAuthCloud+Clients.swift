import FoundationEssentials
import Hummingbird

extension OAuthCloud {
    /// The client that a request comes from, if it can show it.
    ///
    /// - Parameter endpoint: the path of the endpoint that is called, below the issuer.
    func client(of request: Request, _ form: Form, endpoint: String) throws -> OAuthClient {
        let shown = try ShownClient(form, authorization: request.headers[.authorization])
        if settings.wantsClientId { _ = try form.require("client_id") }
        let issuer = issuer(for: request)
        // In a change of its own: an assertion is spent, whatever becomes of the request.
        return try store.grant { state, moment throws(TokenRefusal) in
            let audiences: Set<String> =
                switch moment.settings.oauth.assertionAudience {
                case .issuer: [issuer]
                case .endpoint: ["\(issuer)/\(endpoint)"]
                case .either: [issuer, "\(issuer)/\(endpoint)"]
                }
            let (client, assertion) = try state.clients.authenticate(shown, audiences: audiences, at: moment)
            if let assertion {
                let isFirst = state.proofs.spend(
                    "assertion \(client.id) \(assertion.id)",
                    until: moment.meant(Date(second: assertion.expiresAt)),
                    now: moment.now
                )
                guard isFirst else { throw TokenError.invalidClient.because("the assertion was used before") }
            }
            return client
        }
    }
}
