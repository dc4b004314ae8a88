import JunctionSecret
import JunctionSession

/// What an answer of the token endpoint comes to.
enum OAuthReply: Sendable {
    case granted(OAuthTokens)
    /// The server has granted something that nobody can use: it has to be given back; in words.
    case unusable(OAuthTokens, String)
    /// The server's explicit word.
    case error(OAuthError, Unavailability)
    /// Neither: the server asks to wait, has trouble of its own, or is not the server.
    case trouble(Unavailability)

    init(_ answer: HttpAnswer, sentAt: Moment, now: Moment) {
        let members = OAuthMembers(answer.body)
        if let error = OAuthError(answer, members) {
            self = .error(error, answer.unavailability(saying: error, now: now.wall))
            return
        }
        guard answer.isSuccess else {
            self = .trouble(answer.unavailability(now: now.wall))
            return
        }
        do throws(OAuthTokens.Unreadable) {
            let clock = ServerClock(answer, sentAt: sentAt.read(by: now).wall, receivedAt: now.wall)
            let tokens = try OAuthTokens(members, sentAt: sentAt, clock: clock)
            guard let type = tokens.foreignType else {
                self = .granted(tokens)
                return
            }
            self = .unusable(
                tokens,
                "\(answer.place) granted a token of type \(type), and only Bearer tokens can be given to apps: turn "
                    + "sender-constrained tokens off for this client"
            )
        } catch {
            self = .trouble(answer.unreadable("an access token"))
        }
    }
}

extension HttpAnswer {
    /// An error in so many words is the server's own no: nothing has been acted on.
    func unavailability(saying error: OAuthError, now: WallTime) -> Unavailability {
        if case .unexplained(nil) = error { return unavailability(now: now) }
        let remedy = error.remedy.map { ": \($0)" } ?? ""
        return Unavailability("\(place) answered \(error.word)\(remedy)", retryAfter: retryAfter(now: now))
    }
}
