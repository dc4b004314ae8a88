import JunctionJSON
import JunctionSecret
import JunctionSession
import JunctionText

/// The answer to a session request of social.plus. The parser never puts the token into a `String`.
enum SessionsAnswer: Sendable {
    case granted(Grant.Token)
    case verdict(SocialVerdict)

    /// Parses a success; returns `nil` if a part of it is invalid.
    ///
    /// The provider states absolute times of its own clock. A token that it issued earlier may be returned again, so the
    /// life begins at `sentAt`: the renewal time follows from the rest of the life.
    init?(_ body: SharedSecret, for userId: String, clock: ServerClock, sentAt: Moment) {
        guard let answer = body.json, answer.kind == .object else {
            return nil
        }
        if let verdict = SocialVerdict(users: answer["users"], userId: userId) {
            self = .verdict(verdict)
            return
        }
        // An answer that lists users is about this user only if it lists this user.
        guard answer["users"].map({ $0.elements.isEmpty || $0.own(userId) != nil }) ?? true else { return nil }
        guard let secret = answer["accessToken"]?.secret, BearerToken.fitsHeader(secret),
            let issuedAt = Self.time(answer["issuedAt"]),
            let expiresAt = Self.time(answer["expiresAt"]),
            BearerToken.lives.contains(expiresAt - issuedAt)
        else { return nil }
        let end = min(clock.ours(expiresAt), sentAt.wall + BearerToken.lives.upperBound)
        guard BearerToken.lives.contains(end - sentAt.wall) else { return nil }
        self = .granted(Grant.Token(secret: secret, life: Life(from: sentAt.wall, to: end, at: sentAt)))
    }

    private static func time(_ value: JSONValue?) -> WallTime? {
        value?.string.flatMap(RFC3339.milliseconds).map(WallTime.init(milliseconds:))
    }
}
