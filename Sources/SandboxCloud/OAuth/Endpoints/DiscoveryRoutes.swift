import Hummingbird

extension OAuthCloud {
    /// Adds the discovery document at both well-known addresses, and the public keys.
    func addDiscoveryRoutes(to router: Router<CloudContext>) {
        router.get("oauth/.well-known/openid-configuration") { request, _ in
            try document(for: request, unlessOnly: .oauth)
        }
        // RFC 8414 §3.1 inserts the well-known part before the issuer's path.
        router.get(".well-known/oauth-authorization-server/oauth") { request, _ in
            try document(for: request, unlessOnly: .openid)
        }
        router.get("oauth/jwks") { _, _ in try Response.json(mint.keys()) }
    }

    private func document(for request: Request, unlessOnly other: OAuthSettings.Discovery) throws -> Response {
        let settings = settings
        guard settings.discovery != other, settings.discovery != .none else { throw HTTPError(.notFound) }
        let members = members(for: issuer(for: request)).overlaid(with: settings.discoveryMembers)
        var response = try Response.json(members)
        if let age = settings.discoveryMaxAge { response.headers[.cacheControl] = "public, max-age=\(age)" }
        return response
    }

    private func members(for issuer: String) -> [String: JSONValue] {
        [
            "issuer": .string(issuer),
            "authorization_endpoint": .string("\(issuer)/authorize"),
            "device_authorization_endpoint": .string("\(issuer)/device_authorization"),
            "token_endpoint": .string("\(issuer)/token"),
            "revocation_endpoint": .string("\(issuer)/revoke"),
            "userinfo_endpoint": .string("\(issuer)/userinfo"),
            "jwks_uri": .string("\(issuer)/jwks"),
            "grant_types_supported": .array(GrantType.allCases.map { .string($0.wireName) }),
            "response_types_supported": ["code"],
            "code_challenge_methods_supported": ["S256"],
            "token_endpoint_auth_methods_supported": [
                "none", "client_secret_basic", "client_secret_post", "private_key_jwt",
            ],
            "token_endpoint_auth_signing_alg_values_supported": ["ES256"],
            "subject_types_supported": ["public"],
            "id_token_signing_alg_values_supported": ["ES256", "RS256"],
            "scopes_supported": ["openid", "profile", "offline_access"],
            "authorization_response_iss_parameter_supported": .bool(true),
        ]
    }
}
