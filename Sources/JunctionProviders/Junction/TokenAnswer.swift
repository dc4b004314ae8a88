import JunctionJSON
import JunctionSecret
import JunctionSession

/// The tokens that the token endpoint grants. The parser never puts a token into a `String`.
struct TokenAnswer: Sendable {
    /// The access token. It is `nil` if the answer has no usable one; there is a refresh token then.
    var token: Grant.Token?
    /// The refresh token. It is `nil` if the old one stays valid, which some servers state by an empty text.
    var refreshToken: SharedSecret?

    /// Parses a success. The refresh token comes first, because it is valid even if the rest of the answer is
    /// invalid. Returns `nil` if there is neither token, or if the `refresh_token` is not a string.
    ///
    /// - Parameter sentAt: the start of the request. The life of the token counts from there.
    init?(_ body: SharedSecret, sentAt: Moment) {
        guard let answer = body.json, answer.kind == .object else {
            guard let successor = body.refreshTokenInInvalidJSON else { return nil }
            refreshToken = successor
            return
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

    /// Parses the life: a number as in the provider's iOS SDK, or a string as in its Android SDK.
    private static func life(_ value: JSONValue?) -> Duration? {
        let number = value?.double ?? value?.string.flatMap(Double.init)
        return number.flatMap { Int64(exactly: $0.rounded(.down)) }.map { .seconds($0) }
    }
}
