import JunctionJSON
import JunctionSecret
import JunctionSession

/// What a server grants (RFC 6749 §5.1): read by hand, so that no token is ever a `String` of ours.
struct OAuthTokens: Sendable {
    let accessToken: SharedSecret
    /// Absent where the server lets the old one stand, or gives none.
    var refreshToken: SharedSecret?
    var idToken: SharedSecret?
    /// The scopes that were granted, where the server says so.
    var scopes: [String]?
    /// How the server's clock goes.
    var clock: ServerClock
    /// Where these tokens may be sent.
    let origins: EndpointOrigins?

    /// By the clock of the request's start, and as long as the server says, where it does.
    let sentAt: Moment
    let life: Duration?

    /// What is assumed of a token whose end nobody tells, while another can be had for it.
    static let assumedLife: Duration = .seconds(300)

    /// Nothing where the answer has no access token that can be used.
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

    /// Whether the access token's life is over; false if the server did not say how long it is.
    func hasEnded(_ now: Moment) -> Bool { life.map { sentAt.uptime + $0 <= now.uptime } ?? false }

    /// The access token as the session has it. One whose end nobody tells ends soon where another can be had for it; else it
    /// is good until the API says otherwise.
    ///
    /// - Parameter isRenewable: the session will have a refresh token: this answer's, or one that it has already.
    func token(isRenewable: Bool) -> Grant.Token {
        let life = life ?? (isRenewable ? Self.assumedLife : nil)
        return Grant.Token(
            secret: accessToken,
            life: Life(start: sentAt.uptime, end: life.map { sentAt.uptime + $0 })
        )
    }

    /// What revokes them.
    var revocation: Revocable { Revocable(refreshToken: refreshToken, accessToken: accessToken, origins: origins) }

    private static func life(_ seconds: Int64) -> Duration? {
        seconds > 0 ? min(.seconds(min(seconds, 1 << 40)), BearerToken.lives.upperBound) : nil
    }
}

extension OAuthMembers {
    /// The access token has to be shown otherwise than by itself (DPoP, MAC): apps could not use it. As the server calls that.
    var foreignType: String? {
        text("token_type").flatMap { type in
            guard type.lowercased() != "bearer" else { return nil }
            return type.utf8.allSatisfy(PercentEncoding.isUnreserved) ? type : "unknown"
        }
    }
}

/// What a server granted and can revoke (RFC 7009).
struct Revocable: Sendable {
    var refreshToken: SharedSecret?
    var accessToken: SharedSecret?
    /// Where they may be sent; `nil` where nothing is fixed.
    var origins: EndpointOrigins?

    /// What names it to the server: the refresh token, and with it whatever came of it; else the access token. Nothing where
    /// there is neither.
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
