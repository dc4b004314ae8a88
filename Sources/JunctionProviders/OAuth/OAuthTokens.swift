import JunctionJSON
import JunctionSecret
import JunctionSession
import JunctionText

/// The tokens that a server grants (RFC 6749 §5.1). The parser never puts a token into a `String`.
struct OAuthTokens: Sendable {
    let accessToken: SharedSecret
    /// The refresh token; `nil` if the old one stays valid or if the server issues none.
    var refreshToken: SharedSecret?
    var idToken: SharedSecret?
    /// The granted scopes, if the server states them.
    var scopes: [String]?
    /// The difference between the server's clock and the local one.
    var clock: ServerClock
    /// The origins to which these tokens may be sent.
    let origins: EndpointOrigins?

    /// The start of the request, and the life that the server states.
    let sentAt: Moment
    let life: Duration?

    /// The assumed life of a token if the server states none and the session can renew it.
    static let assumedLife: Duration = .seconds(300)

    /// Returns `nil` if the answer has no usable access token.
    init?(_ members: OAuthMembers, sentAt: Moment, clock: ServerClock, origins: EndpointOrigins?) {
        guard let secret = members.secret("access_token"), BearerToken.fitsHeader(secret), members.foreignType == nil
        else {
            return nil
        }
        accessToken = secret
        refreshToken = members.secret("refresh_token")
        idToken = members.secret("id_token")
        scopes = members.text("scope").map { $0.split { $0 == " " || $0 == "," }.map(String.init) }
        self.clock = clock
        self.origins = origins
        self.sentAt = sentAt
        life = members.wholeNumber("expires_in").flatMap(Self.life)
    }

    /// Returns whether the access token has expired, or would have if it had the assumed life.
    func hasEnded(_ now: Moment) -> Bool {
        token(isRenewable: refreshToken != nil).life.end.map { $0 <= now.uptime } ?? false
    }

    /// Returns the access token for the session. If its life is unknown, a renewable token gets a short life. Other
    /// tokens are valid until the API refuses them.
    ///
    /// - Parameter isRenewable: whether the session will have a refresh token, from this answer or from before.
    func token(isRenewable: Bool) -> Grant.Token {
        let life = life ?? (isRenewable ? Self.assumedLife : nil)
        return Grant.Token(
            secret: accessToken,
            life: Life(start: sentAt.uptime, end: life.map { sentAt.uptime + $0 })
        )
    }

    /// The tokens to revoke.
    var revocation: Revocable { Revocable(refreshToken: refreshToken, accessToken: accessToken, origins: origins) }

    private static func life(_ seconds: Int64) -> Duration? {
        seconds > 0 ? min(.seconds(min(seconds, 1 << 40)), BearerToken.lives.upperBound) : nil
    }
}

extension OAuthMembers {
    /// The type of a token that apps could not use; `nil` for Bearer. A message may repeat it, so it is a registered
    /// type or "unknown".
    var foreignType: String? {
        text("token_type").flatMap { type in
            guard type.lowercased() != "bearer" else { return nil }
            return ["DPoP", "PoP", "MAC", "N_A"].first { $0.lowercased() == type.lowercased() } ?? "unknown"
        }
    }
}

/// Granted tokens that the server can revoke (RFC 7009).
struct Revocable: Sendable {
    var refreshToken: SharedSecret?
    var accessToken: SharedSecret?
    /// The origins to which the tokens may be sent; `nil` if none are fixed.
    var origins: EndpointOrigins?

    /// The form fields of a revocation: the refresh token, which also revokes the tokens issued from it, or else the
    /// access token. Empty if there is neither.
    var fields: [FormBody.Field] {
        if let refreshToken {
            return [
                .secret(name: "token", value: refreshToken), .text(name: "token_type_hint", value: "refresh_token"),
            ]
        }
        guard let accessToken else { return [] }
        return [.secret(name: "token", value: accessToken), .text(name: "token_type_hint", value: "access_token")]
    }
}
