import JunctionJSON
import JunctionSecret

/// The two verdicts of Junction's token endpoint about a user. Every other error is a failure without a verdict.
enum JunctionVerdict: Equatable, Sendable {
    /// The user was deleted or disabled, or the token was never valid.
    case invalidToken
    /// The user exists and must sign in again.
    case reauthenticationRequired

    /// Finds the verdict in an answer: a client error whose body is `{"detail":{"error_type":"…"}}`.
    ///
    /// Only this member counts. The provider's own SDKs read another name twice and missed deleted users for months. A
    /// server that only asks to wait (408, 429) gives no verdict.
    init?(_ answer: HTTPAnswer) {
        guard answer.mayBeVerdict, let body = answer.body.json,
            let type = body["detail"]?["error_type"]
        else { return nil }
        if type.stringEquals("invalid_token") {
            self = .invalidToken
        } else if type.stringEquals("reauthentication_required") {
            self = .reauthenticationRequired
        } else {
            return nil
        }
    }
}
