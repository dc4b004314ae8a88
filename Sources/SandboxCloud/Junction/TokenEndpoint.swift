import Hummingbird

extension JunctionCloud {
    /// `POST /v1/token` of Junction's auth server.
    func addTokenRoutes(to router: Router<CloudContext>) {
        router.post("v1/token") { _, context in
            guard let form = context.form, let grant = Grant(form) else {
                return try Self.refuse(
                    .badRequest,
                    "unsupported_grant_type",
                    "send a form with grant_type refresh_token or \(Grant.exchangeName)"
                )
            }
            let answer = try answer(form, grant)
            counters.count { $0.answered(grant, answer) }
            return try response(answer, shape: context.tokenShape)
        }
    }

    private func answer(_ form: Form, _ grant: Grant) throws -> TokenAnswer {
        let settings = preferences.settings
        switch grant {
        case .exchange:
            guard form["subject_token_type"] == Grant.signInTokenType else {
                return .invalidRequest("subject_token_type must be \(Grant.signInTokenType)")
            }
            guard let userToken = form["subject_token"] else { return .invalidRequest("subject_token is missing") }
            let claims = mint.read(userToken)
            return try ledger.change { state, now in
                state.junction.exchange(userToken, claims: claims, settings: settings, now: now)
            }
        case .refresh:
            guard let token = form["refresh_token"] else { return .invalidRequest("refresh_token is missing") }
            return try ledger.change { state, now in
                state.junction.refresh(token, settings: settings, now: now)
            }
        }
    }

    private func response(_ answer: TokenAnswer, shape: TokenShape) throws -> Response {
        switch answer {
        case .granted(let tokens), .replayed(let tokens):
            try .json(Self.members(tokens, shape: shape))
        case .invalidToken(let message):
            try Self.refuse(.unauthorized, "invalid_token", message)
        case .reauthenticationRequired(let message):
            try Self.refuse(.unauthorized, "reauthentication_required", message)
        case .familyRevoked:
            try Self.refuse(
                .unauthorized,
                "reauthentication_required",
                "the refresh token was replaced before; the whole family is revoked"
            )
        case .invalidRequest(let message):
            try Self.refuse(.badRequest, "invalid_request", message)
        }
    }

    private static func refuse(
        _ status: HTTPResponse.Status,
        _ type: String,
        _ message: String
    ) throws -> Response {
        try .json(["detail": ["error_type": .string(type), "message": .string(message)]] as JSONValue, status: status)
    }

    /// A success of the token endpoint.
    private static func members(_ tokens: IssuedTokens, shape: TokenShape) -> [String: JSONValue] {
        let seconds = Int64(tokens.lifetime)
        var members: [String: JSONValue] = [
            "access_token": .string(tokens.accessToken),
            "expires_in": shape.expiresInAsString ? .string(String(seconds)) : .integer(seconds),
            "token_type": "Bearer",
        ]
        if !shape.omitRefreshToken { members["refresh_token"] = .string(tokens.refreshToken) }
        return members.overlaid(with: shape.members)
    }
}
