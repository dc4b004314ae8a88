package import JunctionJSON

/// Hands out an access token that lives long enough.
package enum TokenGet: MethodDefinition {
    /// How long the token has to live.
    package struct Params: WireParams, Hashable {
        /// In seconds; absent is the same as zero.
        package var minimumValidity: Double?

        package init(minimumValidity: Double? = nil) {
            self.minimumValidity = minimumValidity
        }

        package init(reading value: JSONValue) throws(WireMismatch) {
            minimumValidity = try Members(params: value, of: Self.self).optionalSeconds("minimumValidity")
        }

        package func write(to writer: inout JSONWriter) {
            writer.object { $0.member("minimumValidity", ifPresent: minimumValidity) }
        }

        /// The same as a duration. No token lives for a thousand years, and a `Duration` cannot hold every `Double`.
        package var validity: Duration {
            .seconds(min(max(minimumValidity ?? 0, 0), 1000 * 366 * 86_400))
        }

        package static let members = [
            Member("minimumValidity", .seconds, "how long the token has to live", optional: true)
        ]
    }

    package typealias Answer = AccessToken

    package static let name: StaticString = "token.get"
    package static let capability: Capability? = .token
    package static func isRepeatable(_ params: Params) -> Bool { true }
    package static let summary = "Hands out an access token that lives long enough, renewing it if need be"
    package static let errors: [ErrorCode] = [
        .notSignedIn, .reauthenticationRequired, .sessionTerminated, .providerUnavailable, .storageUnavailable,
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

extension AccessToken: WireValue {
    package init(reading value: JSONValue) throws(WireMismatch) {
        let members = try Members(value, at: "result")
        accessToken = try members.secret("accessToken")
        tokenType = try members.text("tokenType")
        expiresAt = try members.timestamp("expiresAt")
        userId = try members.string("userId")
    }

    package func write(to writer: inout JSONWriter) {
        writer.object { writer in
            writer.member("accessToken", secret: accessToken.box)
            writer.member("tokenType", tokenType)
            writer.member("expiresAt", expiresAt)
            writer.member("userId", userId)
        }
    }

    package static let schema = Schema.object([
        Member("accessToken", .secret, "the token"),
        Member("tokenType", .word(["Bearer"]), "how it goes into an Authorization header"),
        Member("expiresAt", .timestamp, "when it dies"),
        Member("userId", .string, "whose it is"),
    ])
}
