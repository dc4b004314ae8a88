import Hummingbird

extension OAuthCloud {
    /// The client that a request comes from, if it can show it.
    ///
    /// - Parameter endpoint: the path of the endpoint that is called, below the issuer.
    func client(of request: Request, _ form: OAuthForm, endpoint: String) throws -> OAuthClient {
        let shown = try ShownClient(form, authorization: request.headers[.authorization])
        if terms.wantsClientId { _ = try form.require("client_id") }
        let issuer = issuer(for: request)
        // In a change of its own: an assertion is spent, whatever becomes of the request.
        return try ledger.change { state, now in
            let audiences: Set<String> =
                switch state.oauth.terms.assertionAudience {
                case .issuer: [issuer]
                case .endpoint: ["\(issuer)/\(endpoint)"]
                case .either: [issuer, "\(issuer)/\(endpoint)"]
                }
            let stated = state.dateHeader.stated(now.second)
            return Result { () throws(OAuthRefusal) in
                try state.oauth.clients.authenticate(shown, audiences: audiences, now: stated)
            }
        }.get()
    }
}
