import JunctionJSON
import JunctionSecret
import JunctionSession

/// A partial grant: tokens that a sign-in or a renewal cannot use yet.
enum OAuthPartialGrant: Sendable {
    /// Tokens whose user is not known yet. A second request may tell who it is.
    case tokens(OAuthTokens)
    /// A refresh token without a usable access token. The next attempt uses it.
    case refreshToken(SharedSecret, EndpointOrigins?)
    /// An access token that cannot be used. It can only be revoked.
    case accessToken(SharedSecret, EndpointOrigins?)

    var revocation: Revocable {
        switch self {
        case .tokens(let tokens): tokens.revocation
        case .refreshToken(let token, let origins): Revocable(refreshToken: token, origins: origins)
        case .accessToken(let token, let origins): Revocable(accessToken: token, origins: origins)
        }
    }

    /// Returns the stored form. The members have the names of RFC 6749 §5.1 where those exist.
    func content(grantedBy issuer: OAuthIssuer) -> SharedSecret {
        SharedSecret.jsonObject { text in
            text.member("issuer", issuer.text)
            switch self {
            case .tokens(let tokens):
                tokens.write(to: &text)
                text.member(tokens.origins)
            case .refreshToken(let token, let origins):
                text.member("refresh_token", secret: token)
                text.member(origins)
            case .accessToken(let token, let origins):
                text.member("access_token", secret: token)
                text.member(origins)
            }
        }
    }

    /// Parses the stored form; returns `nil` if it is invalid, or if another issuer granted it: no other server gets its
    /// tokens. An earlier release stored no issuer.
    init?(_ content: SharedSecret, grantedBy issuer: OAuthIssuer, now: Moment) {
        guard let members = OAuthMembers(content), members.text("issuer").map(issuer.isNamed) ?? true else {
            return nil
        }
        let origins = EndpointOrigins(members.json("origins"))
        if let tokens = OAuthTokens(members, origins: origins, now: now) {
            self = .tokens(tokens)
        } else if let token = members.secret("refresh_token") {
            self = .refreshToken(token, origins)
        } else if let token = members.secret("access_token") {
            self = .accessToken(token, origins)
        } else {
            return nil
        }
    }
}

extension OAuthTokens {
    fileprivate func write(to text: inout JSONWriter) {
        text.member("access_token", secret: accessToken)
        if let refreshToken { text.member("refresh_token", secret: refreshToken) }
        if let idToken { text.member("id_token", secret: idToken) }
        if let scopes { text.member("scope", scopes.joined(separator: " ")) }
        if let seconds = life?.components.seconds { text.member("expires_in", seconds) }
        text.member("sent_at", sentAt.wall.milliseconds)
        text.member("skew", clock.skew.wholeMilliseconds)
    }

    /// Restores the tokens. Their life continues from the time of the grant, by the wall clock, because the daemon may
    /// have restarted.
    fileprivate init?(_ members: OAuthMembers, origins: EndpointOrigins?, now: Moment) {
        guard let sentAt = members.wholeNumber("sent_at"), let skew = members.wholeNumber("skew") else { return nil }
        let wall = min(WallTime(milliseconds: sentAt), now.wall)
        self.init(
            members,
            sentAt: Moment(wall: wall, uptime: now.uptime + (wall - now.wall)),
            clock: ServerClock(skew: .milliseconds(skew)),
            origins: origins
        )
    }
}

extension JSONWriter {
    fileprivate mutating func member(_ origins: EndpointOrigins?) {
        guard let origins else { return }
        object("origins") { text in
            text.member("token", origins.token)
            if let origin = origins.deviceAuthorization { text.member("device", origin) }
            if let origin = origins.revocation { text.member("revocation", origin) }
            if let origin = origins.userinfo { text.member("userinfo", origin) }
        }
    }
}

extension EndpointOrigins {
    fileprivate init?(_ text: JSONValue?) {
        guard let text, let token = text["token"]?.string else { return nil }
        self.init(
            token: token,
            deviceAuthorization: text["device"]?.string,
            revocation: text["revocation"]?.string,
            userinfo: text["userinfo"]?.string
        )
    }
}
