import JunctionJSON
import JunctionSecret
import JunctionSession

/// What the token endpoint grants: read by hand, so that no token is ever a `String` of ours.
struct TokenAnswer: Sendable {
    /// Absent where the answer has none that can be used; there is a refresh token then.
    var token: Grant.Token?
    /// Absent where the server lets the old one stand; some say so by an empty text.
    var refreshToken: SharedSecret?

    /// Reads a success: the refresh token first, because it is good whatever else the answer says. `nil` when neither token can
    /// be read, or what stands in the refresh token's place is none.
    ///
    /// - Parameter sentAt: the start of the request. The life counts from there, whatever the answer's way back took.
    init?(_ body: SharedSecret, sentAt: Moment) {
        guard let answer = body.withUnsafeBytes({ try? JSONValue.parse($0) }), answer.kind == .object else {
            return nil
        }
        if let value = answer["refresh_token"], !value.isNull {
            guard let renewed = value.secret else { return nil }
            if renewed.count > 0 { refreshToken = renewed }
        }
        token = Self.token(answer, sentAt)
        if token == nil, refreshToken == nil { return nil }
    }

    private static func token(_ answer: JSONValue, _ sentAt: Moment) -> Grant.Token? {
        guard let secret = answer["access_token"]?.secret, BearerToken.fitsHeader(secret),
            let life = life(answer["expires_in"]), BearerToken.lives.contains(life)
        else { return nil }
        return Grant.Token(secret: secret, life: Life(from: sentAt, lasting: life))
    }

    /// A number, as the vendor's iOS SDK expects it, or a string, as its Android SDK does.
    private static func life(_ value: JSONValue?) -> Duration? {
        (value?.integer ?? value?.string.flatMap(Int64.init)).map { .seconds($0) }
    }
}
