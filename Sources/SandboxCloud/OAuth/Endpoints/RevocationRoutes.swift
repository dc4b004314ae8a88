import Hummingbird

extension OAuthCloud {
    /// `POST /oauth/revoke` (RFC 7009): a refresh token ends its login, an access token only itself.
    func addRevocationRoutes(to router: Router<CloudContext>) {
        router.post("oauth/revoke") { request, context in
            try answer {
                let form = try OAuthForm(context.form)
                let client = try client(of: request, form, endpoint: "revoke")
                try revoke(try form.require("token"), for: client)
                return [:]
            }
        }
    }

    private func revoke(_ token: String, for client: OAuthClient) throws {
        let endsLogin = try ledger.change { state, now in
            if case .none = client.credential, !state.oauth.terms.publicClientsRevoke {
                throw OAuthError.invalidClient.because("a client without credentials may not revoke")
            }
            let (standing, family) = state.oauth.families.standing(of: token, now: now)
            // Nothing to do is as good as done (§2.2).
            guard let family else { return false }
            guard family.login.client == client.id else {
                throw OAuthError.unauthorizedClient.because("the token is another client's")
            }
            switch standing {
            case .accessToken, .expiredAccessToken:
                state.oauth.families.drop(accessToken: token)
                return false
            case .refreshToken, .replacedRefreshToken, .olderRefreshToken:
                state.oauth.families.end(family.id, because: .revocation, now: now)
                return true
            case .endedRefreshToken, .unknown:
                return false
            }
        }
        if endsLogin { counters.count { $0.signOuts += 1 } }
    }
}
