import JunctionJSON

/// Returns an access token that is valid long enough.
package enum TokenGet: MethodDefinition {
    /// How long the token must be valid.
    package struct Params: WireParams, WireObject, Hashable {
        /// The minimum validity in seconds; `nil` means zero.
        package var minimumValidity: Double?

        package init(minimumValidity: Double? = nil) {
            self.minimumValidity = minimumValidity
        }

        package static let fields = Fields(
            Params.init(minimumValidity:),
            Field("minimumValidity", \.minimumValidity, ifPresent: .seconds, "how long the token has to live")
        )

        /// Reads `minimumValidity` from the query of an HTTP request, with the same bounds as in `token.get`.
        package init(query text: String) throws(WireMismatch) {
            // JSON allows white space around a value; the query has only the number.
            guard text.utf8.allSatisfy({ $0 > 0x20 }), (try? JSONValue.parse(Array(text.utf8)))?.kind == .number,
                let object = try? JSONValue.parse(Array(#"{"minimumValidity":\#(text)}"#.utf8))
            else {
                throw WireMismatch("minimumValidity", "must be a number of seconds, zero or more")
            }
            try self.init(reading: object)
        }

        /// The minimum validity as a duration, at most a thousand years: a `Duration` cannot hold every `Double`.
        package var validity: Duration {
            .seconds(min(max(minimumValidity ?? 0, 0), 1000 * 366 * 86_400))
        }
    }

    package typealias Answer = AccessToken

    package static let name: StaticString = "token.get"
    package static let capability: Capability? = .token
    package static let onlyAnswers = true
    package static let summary = "Hands out an access token that lives long enough, renewing it if need be"
    package static let errors: [ErrorCode] = [
        .notSignedIn, .reauthenticationRequired, .sessionTerminated, .providerUnavailable, .misconfigured,
        .storageUnavailable,
        .tokenExpired, .unsupported,
    ]
}

/// An access token and its properties.
public struct AccessToken: Equatable, Sendable {
    /// The token.
    public var accessToken: SecretText
    /// The scheme in an `Authorization` header: `Bearer`.
    public var tokenType: String
    /// When the token expires.
    public var expiresAt: Timestamp
    /// The user whose token it is.
    public var userId: String

    /// Makes an access token.
    public init(accessToken: SecretText, tokenType: String = "Bearer", expiresAt: Timestamp, userId: String) {
        self.accessToken = accessToken
        self.tokenType = tokenType
        self.expiresAt = expiresAt
        self.userId = userId
    }
}

extension AccessToken: WireObject {
    package static let fields = Fields(
        at: "result",
        AccessToken.init(accessToken:tokenType:expiresAt:userId:),
        Field("accessToken", \.accessToken, .secret, "the token"),
        Field("tokenType", \.tokenType, .text(of: ["Bearer"]), "how it goes into an Authorization header"),
        Field("expiresAt", \.expiresAt, .timestamp, "when it dies"),
        Field("userId", \.userId, .string, "whose it is")
    )
}
