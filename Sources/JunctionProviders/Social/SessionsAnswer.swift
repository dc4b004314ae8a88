import JunctionJSON
import JunctionSecret
import JunctionSession

/// What social.plus grants: read by hand, so that the token is never a `String` of ours.
enum SessionsAnswer: Sendable {
    case granted(Grant.Token)
    case verdict(SocialVerdict)

    /// Reads a success; `nil` when anything in it is not what it should be.
    ///
    /// The vendor states absolute times of its own clock. A token that it had given out before is not new to us only
    /// in that its renewal is drawn from the life that is left.
    init?(_ body: SharedSecret, for userId: String, clock: ServerClock, sentAt: Moment) {
        guard let answer = body.withUnsafeBytes({ try? JSONValue.parse($0) }), answer.kind == .object else {
            return nil
        }
        if let verdict = SocialVerdict(users: answer["users"], userId: userId) {
            self = .verdict(verdict)
            return
        }
        guard let secret = answer["accessToken"]?.secret, BearerToken.fitsHeader(secret),
            let issuedAt = answer["issuedAt"]?.string.flatMap(IsoTime.parse),
            let expiresAt = answer["expiresAt"]?.string.flatMap(IsoTime.parse),
            BearerToken.lives.contains(expiresAt - issuedAt)
        else { return nil }
        let (begin, end) = (max(clock.ours(issuedAt), sentAt.wall), clock.ours(expiresAt))
        guard BearerToken.lives.contains(end - begin) else { return nil }
        self = .granted(Grant.Token(secret: secret, life: Life(from: begin, to: end, at: sentAt)))
    }
}
