import Hummingbird

extension OAuthCloud {
    /// Adds `POST /oauth/revoke` (RFC 7009). A refresh token ends its login, an access token ends only itself.
    func addRevocationRoutes(to router: Router<CloudContext>) {
        router.post("oauth/revoke") { request, context in
            try answer {
                let form = try context.requireForm()
                let client = try client(of: request, form, endpoint: "revoke")
                try revoke(try form.require("token"), for: client)
                return [:]
            }
        }
    }

    private func revoke(_ token: String, for client: OAuthClient) throws {
        let endsLogin = try store.change { state, moment in
            if case .none = client.credential, !moment.settings.oauth.publicClientsRevoke {
                throw TokenError.invalidClient.because("a client without credentials may not revoke")
            }
            let (standing, login) = state.logins.standing(of: token, at: .oauth, now: moment.now)
            // An unknown token is a success (§2.2).
            guard let login else { return false }
            guard login.clientId == client.id else {
                throw TokenError.unauthorizedClient.because("the token is another client's")
            }
            switch standing {
            case .accessToken, .expiredAccessToken:
                state.logins.drop(accessToken: token)
                return false
            case .refreshToken, .replacedRefreshToken, .olderRefreshToken:
                state.logins.end(login.id, because: .signedOut, now: moment.now)
                return true
            case .endedRefreshToken, .unknown:
                return false
            }
        }
        if endsLogin { store.count { $0.signOuts += 1 } }
    }
}
