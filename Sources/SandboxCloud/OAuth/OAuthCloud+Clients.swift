import FoundationEssentials
import Hummingbird

extension OAuthCloud {
    /// - Parameter endpoint: The path of the called endpoint, below the issuer.
    func client(of request: Request, _ form: Form, endpoint: String) throws -> OAuthClient {
        let shown = try ShownClient(form, authorization: request.headers[.authorization])
        if settings.wantsClientId { _ = try form.require("client_id") }
        let issuer = issuer(for: request)
        // A separate change: the assertion is spent even if the request fails afterwards.
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
