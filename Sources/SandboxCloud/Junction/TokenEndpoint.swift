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
            try .json(TokenView(tokens, shape: shape), spelling: .snakeCase)
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
}

/// A success of the token endpoint.
private struct TokenView: Encodable {
    let accessToken: String
    let refreshToken: String?
    let expiresIn: JSONValue
    let tokenType = "Bearer"

    init(_ tokens: IssuedTokens, shape: TokenShape) {
        let seconds = Int64(tokens.lifetime)
        accessToken = tokens.accessToken
        refreshToken = shape.omitRefreshToken ? nil : tokens.refreshToken
        expiresIn = shape.expiresInAsString ? .string(String(seconds)) : .integer(seconds)
    }
}
