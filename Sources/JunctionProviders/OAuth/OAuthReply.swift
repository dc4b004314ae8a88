import JunctionSecret
import JunctionSession

/// What an answer of the token endpoint comes to.
enum OAuthReply: Sendable {
    case granted(OAuthTokens)
    /// The server has granted something, and no access token that can be used.
    case unusable(Unusable)
    /// The server's explicit word.
    case error(OAuthError, Unavailability)
    /// Neither: the server asks to wait, has trouble of its own, or is not the server.
    case trouble(Unavailability)

    /// What a success has beside an access token that cannot be used.
    struct Unusable: Sendable {
        /// It takes the place of the one that was sent, whatever is wrong with the rest.
        var refreshToken: SharedSecret?
        var accessToken: SharedSecret?
        var idToken: SharedSecret?
        /// What is wrong, and what to do.
        var why: Unavailability
        /// The same answer would come again: the client has to be set up otherwise.
        var isForLong: Bool

        /// Where they may be sent.
        var origins: EndpointOrigins?

        var revocation: Revocable {
            Revocable(refreshToken: refreshToken, accessToken: accessToken, origins: origins)
        }
    }

    /// - Parameter origins: where the endpoints are for what is granted.
    init(_ answer: HttpAnswer, sentAt: Moment, now: Moment, origins: EndpointOrigins?) {
        let members = OAuthMembers(answer.body)
        // A refresh token in a success is good, whatever stands beside it.
        let holdsRefreshToken = answer.isSuccess && members?.secret("refresh_token") != nil
        if !holdsRefreshToken, let error = OAuthError(answer, members) {
            self = .error(error, answer.unavailability(saying: error, now: now.wall))
            return
        }
        guard answer.isSuccess else {
            self = .trouble(answer.unavailability(now: now.wall))
            return
        }
        guard let members else {
            self = .trouble(answer.unreadable("an access token"))
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
    /// Nothing where the answer has nothing that would have to be kept or given back.
    fileprivate init?(_ answer: HttpAnswer, _ members: OAuthMembers, _ origins: EndpointOrigins?) {
        self.origins = origins
        refreshToken = members.secret("refresh_token")
        accessToken = members.secret("access_token").flatMap { BearerToken.fitsHeader($0) ? $0 : nil }
        idToken = members.secret("id_token")
        isForLong = members.foreignType != nil && accessToken != nil
        if isForLong, let type = members.foreignType {
            why = Unavailability(
                "\(answer.place) granted a token of type \(type), and only Bearer tokens can be given to apps: turn "
                    + "sender-constrained tokens off for this client",
                cause: .configuration,
                host: answer.place,
                ambiguous: refreshToken == nil
            )
        } else if refreshToken != nil {
            why = answer.shortfall("an access token that can be used")
        } else {
            return nil
        }
    }
}

extension HttpAnswer {
    /// An error in so many words is the server's own no: nothing has been acted on.
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
