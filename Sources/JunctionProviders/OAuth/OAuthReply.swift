import JunctionSecret
import JunctionSession

/// The meaning of an answer of the token endpoint.
enum OAuthReply: Sendable {
    case granted(OAuthTokens)
    /// The server granted tokens, but no usable access token.
    case unusable(Unusable)
    /// An explicit error of the server.
    case error(OAuthError, Unavailability)
    /// Any other answer: a request to wait, a server error, or an answer that is not of the server.
    case trouble(Unavailability)

    /// The tokens of a success whose access token cannot be used.
    struct Unusable: Sendable {
        /// The new refresh token. It replaces the one that was sent, even if the rest of the answer is unusable.
        var refreshToken: SharedSecret?
        var accessToken: SharedSecret?
        var idToken: SharedSecret?
        /// The problem and the next step.
        var why: Unavailability
        /// The origins to which the tokens may be sent.
        var origins: EndpointOrigins?
    }

    /// - Parameter origins: the endpoint origins for the granted tokens.
    init(_ answer: HTTPAnswer, sentAt: Moment, now: Moment, origins: EndpointOrigins?) {
        let members = OAuthMembers(answer.body)
        // A refresh token in a success is valid, even beside an `error`.
        let holdsRefreshToken = answer.isSuccess && members?.secret("refresh_token") != nil
        if !holdsRefreshToken, let error = OAuthError(answer, members) {
            var why = answer.unavailability(saying: error, now: now.wall)
            why.isUnexplainedRefusal = error.isUnexplained && [400, 401].contains(answer.status)
            self = .error(error, why)
            return
        }
        guard answer.isSuccess else {
            self = .trouble(answer.unavailability(now: now.wall))
            return
        }
        guard let members else {
            self =
                if let successor = answer.body.refreshTokenInInvalidJSON {
                    .unusable(Unusable(answer, successor, origins))
                } else {
                    .trouble(answer.unreadable("an access token"))
                }
            return
        }
        let clock = ServerClock(answer, sentAt: sentAt.read(by: now).wall, receivedAt: now.wall)
        if let tokens = OAuthTokens(members, sentAt: sentAt, clock: clock, origins: origins) {
            self = .granted(tokens)
        } else if let unusable = Unusable(answer, members, origins) {
            self = .unusable(unusable)
        } else {
            self = .trouble(answer.unreadable("an access token"))
        }
    }
}

extension OAuthReply.Unusable {
    fileprivate init(_ answer: HTTPAnswer, _ successor: SharedSecret, _ origins: EndpointOrigins?) {
        (refreshToken, self.origins) = (successor, origins)
        why = answer.missingAccessToken("an access token that can be used")
    }

    /// Returns `nil` if the answer has no token that must be stored or revoked.
    fileprivate init?(_ answer: HTTPAnswer, _ members: OAuthMembers, _ origins: EndpointOrigins?) {
        self.origins = origins
        refreshToken = members.secret("refresh_token")
        accessToken = members.secret("access_token").flatMap { BearerToken.fitsHeader($0) ? $0 : nil }
        idToken = members.secret("id_token")
        if accessToken != nil, let type = members.foreignType {
            why = Unavailability(
                "\(answer.place) granted a token of type \(type), and only Bearer tokens can be given to apps: turn "
                    + "sender-constrained tokens off for this client",
                cause: .configuration,
                host: answer.place,
                ambiguous: refreshToken == nil
            )
        } else if refreshToken != nil {
            why = answer.missingAccessToken("an access token that can be used")
        } else {
            return nil
        }
    }
}

extension HTTPAnswer {
    /// An explicit error means that the server has not acted on the request, so the outcome is not ambiguous.
    func unavailability(saying error: OAuthError, now: WallTime) -> Unavailability {
        if case .unexplained(nil) = error { return unavailability(now: now) }
        return Unavailability(
            "\(place) answered \(error.word)",
            remedy: error.remedy,
            cause: error.isOfClient ? .configuration : .answer,
            host: place,
            retryAfter: retryAfter(now: now)
        )
    }
}
