import JunctionJSON
import JunctionSecret

/// The two things that Junction's token endpoint says about a user, as opposed to everything that merely went wrong.
enum JunctionVerdict: Equatable, Sendable {
    /// The user was deleted or disabled, or the token was never good.
    case invalidToken
    /// The user is fine and has to sign in again.
    case reauthenticationRequired

    /// Finds the verdict in an answer: a client error whose body says `{"detail":{"error_type":"…"}}`.
    ///
    /// The vendor's own SDKs twice looked under another name and missed deleted users for months; nothing but
    /// exactly this place counts. A server that only asks to wait (408, 429) has not judged anybody.
    init?(_ answer: HttpAnswer) {
        guard answer.mayBeVerdict, let body = answer.body.withUnsafeBytes({ try? JSONValue.parse($0) }),
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
