import JunctionJSON

/// Hands out an access token that lives long enough.
package enum TokenGet: MethodDefinition {
    /// How long the token has to live.
    package struct Params: WireParams, WireObject, Hashable {
        /// In seconds; absent is the same as zero.
        package var minimumValidity: Double?

        package init(minimumValidity: Double? = nil) {
            self.minimumValidity = minimumValidity
        }

        package static let fields = Fields(
            Params.init(minimumValidity:),
            Field("minimumValidity", \.minimumValidity, ifPresent: .seconds, "how long the token has to live")
        )

        /// Reads `minimumValidity` from the query of an HTTP request. It has the bounds that it has in `token.get`.
        package init(query text: String) throws(WireMismatch) {
            guard (try? JSONValue.parse(Array(text.utf8)))?.kind == .number,
                let object = try? JSONValue.parse(Array(#"{"minimumValidity":\#(text)}"#.utf8))
            else {
                throw WireMismatch("minimumValidity", "must be a number of seconds, zero or more")
            }
            try self.init(reading: object)
        }

        /// The same as a duration. No token lives for a thousand years, and a `Duration` cannot hold every `Double`.
        package var validity: Duration {
            .seconds(min(max(minimumValidity ?? 0, 0), 1000 * 366 * 86_400))
        }
    }

    package typealias Answer = AccessToken

    package static let name: StaticString = "token.get"
    package static let capability: Capability? = .token
    package static func isRepeatable(_ params: Params) -> Bool { true }
    package static let summary = "Hands out an access token that lives long enough, renewing it if need be"
    package static let errors: [ErrorCode] = [
        .notSignedIn, .reauthenticationRequired, .sessionTerminated, .providerUnavailable, .misconfigured,
        .storageUnavailable,
        .tokenExpired, .unsupported,
    ]
}

/// An access token and what it is good for.
public struct AccessToken: Equatable, Sendable {
    /// The token.
    public var accessToken: SecretText
    /// How it goes into an `Authorization` header: `Bearer`.
    public var tokenType: String
    /// When it dies.
    public var expiresAt: Timestamp
    /// Whose it is.
    public var userId: String

    /// Puts a token together.
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
