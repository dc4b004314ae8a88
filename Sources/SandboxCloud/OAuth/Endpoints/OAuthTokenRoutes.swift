import FoundationEssentials
import Hummingbird

extension OAuthCloud {
    /// Adds `POST /oauth/token`, with all grants.
    func addTokenRoutes(to router: Router<CloudContext>) {
        router.post("oauth/token") { request, context in
            try answer {
                let form = try context.requireForm()
                guard let grant = GrantType(form), !settings.unsupportedGrants.contains(grant) else {
                    throw TokenError.unsupportedGrantType.because("grant_type is missing or not one of this server's")
                }
                if grant == .deviceCode { store.count { $0.polls += 1 } }
                do {
                    let client = try client(of: request, form, endpoint: "token")
                    let granted = try store.grant { state, moment throws(TokenRefusal) in
                        try state.grant(grant, form, to: client, at: moment)
                    }
                    store.count { $0.granted(grant, isReplay: granted.tokens.isReplay) }
                    let members = try members(granted, grant, to: client, from: issuer(for: request))
                    return context.tokenAnswer(members)
                } catch let refusal as TokenRefusal {
                    store.count { $0.refused(grant, refusal) }
                    throw refusal
                }
            }
        }
    }

    private func members(
        _ granted: OAuthGrant,
        _ grant: GrantType,
        to client: OAuthClient,
        from issuer: String
    ) throws -> [String: JSONValue] {
        var members = granted.tokens.members
        members["scope"] = .string(granted.tokens.login.scopes.joined(separator: " "))
        if grant == .exchange { members["issued_token_type"] = "urn:ietf:params:oauth:token-type:access_token" }
        if let subject = granted.idTokenSubject {
            members["id_token"] = .string(
                try idToken(about: subject, nonce: granted.nonce, for: client, from: issuer)
            )
        }
        return members.overlaid(with: settings.tokenMembers)
    }

    /// The lifetime of an id_token, in seconds.
    private static let idTokenLifetime: Int64 = 3600

    private func idToken(
        about subject: String,
        nonce: String?,
        for client: OAuthClient,
        from issuer: String
    ) throws -> String {
        let (name, moment) = store.read { state, moment in (state.users[.oauth, subject]?.name, moment) }
        let (settings, now) = (moment.settings.oauth, moment.stated(moment.now).second)
        var claims: [String: JSONValue] = [
            "iss": .string(issuer),
            "aud": .string(client.id),
            "sub": .string(subject),
            "iat": .integer(now),
            "exp": .integer(now + Self.idTokenLifetime),
        ]
        claims["name"] = name.map { .string($0) }
        claims["nonce"] = nonce.map { .string($0) }
        return try mint.token(claims.overlaid(with: settings.idTokenClaims), algorithm: settings.idTokenAlgorithm)
    }
}
