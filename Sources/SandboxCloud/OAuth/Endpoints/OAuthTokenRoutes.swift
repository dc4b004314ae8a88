import FoundationEssentials
import Hummingbird

extension OAuthCloud {
    /// `POST /oauth/token`, with all of its grants.
    func addTokenRoutes(to router: Router<CloudContext>) {
        router.post("oauth/token") { request, context in
            try answer {
                let form = try OAuthForm(context.form)
                guard let grant = form.grant, !terms.unsupportedGrants.contains(grant) else {
                    throw OAuthError.unsupportedGrantType.because("grant_type is missing or not one of this server's")
                }
                if grant == .deviceCode { counters.count { $0.polls += 1 } }
                do {
                    let client = try client(of: request, form, endpoint: "token")
                    let granted = try self.grant(grant, form, to: client)
                    counters.count { $0.granted(grant, isReplay: granted.isReplay) }
                    return try members(granted, grant, to: client, from: issuer(for: request), context.tokenShape)
                } catch let refusal as OAuthRefusal {
                    counters.count { $0.refused(grant, refusal) }
                    throw refusal
                }
            }
        }
    }

    private func grant(_ grant: GrantType, _ form: OAuthForm, to client: OAuthClient) throws -> OAuthState.Granted {
        let lifetimes = OAuthLifetimes(preferences.settings)
        // What a refusal has changed stays changed, so the ledger does not get to see it as an error.
        return try ledger.change { state, now in
            Result { () throws(OAuthRefusal) in
                try state.oauth.grant(grant, form, to: client, for: lifetimes, now: now)
            }
        }.get()
    }

    private func members(
        _ granted: OAuthState.Granted,
        _ grant: GrantType,
        to client: OAuthClient,
        from issuer: String,
        _ shape: TokenShape
    ) throws -> [String: JSONValue] {
        let seconds = Int64(granted.tokens.lifetime)
        var members: [String: JSONValue] = [
            "access_token": .string(granted.tokens.accessToken),
            "token_type": "Bearer",
            "expires_in": shape.expiresInAsString ? .string(String(seconds)) : .integer(seconds),
            "scope": .string(granted.tokens.scopes.joined(separator: " ")),
        ]
        if !shape.omitRefreshToken { members["refresh_token"] = granted.tokens.refreshToken.map { .string($0) } }
        if grant == .exchange { members["issued_token_type"] = "urn:ietf:params:oauth:token-type:access_token" }
        if let subject = granted.idTokenSubject {
            members["id_token"] = .string(
                try idToken(about: subject, nonce: granted.nonce, for: client, from: issuer)
            )
        }
        return members.overlaid(with: terms.tokenMembers).overlaid(with: shape.members)
    }

    private func idToken(
        about subject: String,
        nonce: String?,
        for client: OAuthClient,
        from issuer: String
    ) throws -> String {
        let (terms, name, now) = ledger.read { state, now in
            // Times are stated on the clock that the Date header shows, which is never advanced.
            (state.oauth.terms, state.oauth.users[subject]?.name, state.dateHeader.stated(now.second))
        }
        var claims: [String: JSONValue] = [
            "iss": .string(issuer),
            "aud": .string(client.id),
            "sub": .string(subject),
            "iat": .integer(now),
            "exp": .integer(now + Int64(OAuthLifetimes.usual)),
        ]
        claims["name"] = name.map { .string($0) }
        claims["nonce"] = nonce.map { .string($0) }
        return try mint.token(claims.overlaid(with: terms.idTokenClaims), algorithm: terms.idTokenAlgorithm)
    }
}

extension Tally {
    fileprivate mutating func granted(_ grant: GrantType, isReplay: Bool) {
        grants[grant.rawValue, default: [:]][isReplay ? "replayed" : "granted", default: 0] += 1
        switch grant {
        case .refresh: refreshes += 1
        case .exchange, .deviceCode, .authorizationCode: exchanges += 1
        }
        if isReplay { replays += 1 }
    }

    fileprivate mutating func refused(_ grant: GrantType, _ refusal: OAuthRefusal) {
        grants[grant.rawValue, default: [:]][refusal.outcome, default: 0] += 1
        if refusal.endsFamily { familyRevocations += 1 }
    }
}
