import JunctionJSON
import JunctionSecret
import JunctionSession

/// What the token endpoint grants: read by hand, so that no token is ever a `String` of ours.
struct TokenAnswer: Sendable {
    var token: Grant.Token
    /// Absent where the server lets the old one stand.
    var refreshToken: SharedSecret?

    /// Reads a success; `nil` when anything in it is not what it should be.
    ///
    /// - Parameter sentAt: the start of the request. The life counts from there, whatever the answer's way back took.
    init?(_ body: SharedSecret, sentAt: Moment) {
        guard let answer = body.withUnsafeBytes({ try? JSONValue.parse($0) }), answer.kind == .object,
            let secret = answer["access_token"]?.secret, BearerToken.fitsHeader(secret),
            let life = Self.life(answer["expires_in"]), BearerToken.lives.contains(life)
        else { return nil }
        token = Grant.Token(secret: secret, life: Life(from: sentAt, lasting: life))

        switch answer["refresh_token"] {
        case nil:
            refreshToken = nil
        case let value? where value.isNull:
            refreshToken = nil
        case let value?:
            guard let renewed = value.secret, renewed.count > 0 else { return nil }
            refreshToken = renewed
        }
    }

    /// A number, as the vendor's iOS SDK expects it, or a string, as its Android SDK does.
    private static func life(_ value: JSONValue?) -> Duration? {
        (value?.integer ?? value?.string.flatMap(Int64.init)).map { .seconds($0) }
    }
}
