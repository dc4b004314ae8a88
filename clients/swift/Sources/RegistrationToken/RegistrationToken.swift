import Crypto
import JunctionJSON
import JunctionText

/// A token with which an application's server lets one user register one application instance with Sinch.
///
/// A server makes a token for a user whom it has authenticated:
/// ```swift
/// let secret = try ApplicationSecret(base64: bytesOfTheSecretFile)
/// let token = try RegistrationToken(applicationKey: key, userId: "alice", issuedAt: now)
/// let jwt = token.signed(with: secret)
/// ```
/// The receiver reads the token with ``verify(_:with:at:tolerance:)``, or with ``inspect(_:)`` if it does not have the
/// secret. All times are whole seconds since 1970-01-01T00:00:00Z, as in a JWT.
public struct RegistrationToken: Hashable, Sendable {
    /// The key of the application.
    public let applicationKey: String
    /// The user for whom the token is.
    public let userId: String
    /// When the token was made (`iat`).
    public let issuedAt: Int64
    /// Until when the token can be presented (`exp`).
    public let expiresAt: Int64
    /// A text that no other token has.
    public let nonce: String
    /// When the registration ends; `nil` if it does not end.
    public let instanceExpiresAt: Int64?

    /// The lifetime of a token in the vendor's examples, in seconds. The vendor's documentation states only the
    /// minimum.
    public static let usualTimeToLive: Int64 = 600
    /// The shortest lifetime of a token, in seconds.
    public static let shortestTimeToLive: Int64 = 60
    /// The shortest lifetime of a limited registration, in seconds: 48 hours.
    public static let shortestInstanceTimeToLive: Int64 = 48 * 3_600
    /// The longest user id, in characters.
    public static let longestUserId = 40

    /// Makes a token for one user. Throws the rule that the token would break.
    ///
    /// - Parameters:
    ///   - applicationKey: the key of the application, from the vendor's dashboard.
    ///   - userId: 1 to 40 printable ASCII characters, without spaces.
    ///   - issuedAt: the present time, in seconds since 1970.
    ///   - timeToLive: how many seconds the token can be presented.
    ///   - instanceTimeToLive: how many seconds the registration lasts; `nil` means without end. A registration with an
    ///     end can be extended later, but it can never be made endless.
    ///   - nonce: a text that no other token has.
    public init(
        applicationKey: String,
        userId: String,
        issuedAt: Int64,
        timeToLive: Int64 = usualTimeToLive,
        instanceTimeToLive: Int64? = nil,
        nonce: String = freshNonce()
    ) throws(Rule) {
        try self.init(
            issuer: Name.application(applicationKey),
            subject: Name.user(userId, of: applicationKey),
            issuedAt: issuedAt,
            expiresAt: issuedAt.addingReportingOverflow(timeToLive).partialValue,
            nonce: nonce,
            instanceExpiresAt: instanceTimeToLive.map { issuedAt.addingReportingOverflow($0).partialValue }
        )
    }

    /// Makes a token from its claims, if they meet all rules that concern only the claims.
    init(
        issuer: String,
        subject: String,
        issuedAt: Int64?,
        expiresAt: Int64?,
        nonce: String?,
        instanceExpiresAt: Int64?
    ) throws(Rule) {
        guard let applicationKey = Name.application(in: issuer) else { throw .issuer }
        guard let (owner, userId) = Name.user(in: subject) else { throw .subject }
        guard owner == applicationKey else { throw .subjectApplication }
        guard let issuedAt, UTCDay.seconds.contains(issuedAt) else { throw .issuedAt }
        guard let expiresAt, UTCDay.seconds.contains(expiresAt) else { throw .expiresAt }
        guard expiresAt - issuedAt >= Self.shortestTimeToLive else { throw .timeToLive }
        guard let nonce, !nonce.isEmpty else { throw .nonce }
        if let end = instanceExpiresAt {
            guard UTCDay.seconds.contains(end), end - issuedAt >= Self.shortestInstanceTimeToLive else {
                throw .instanceExpiry
            }
        }
        self.applicationKey = applicationKey
        self.userId = userId
        self.issuedAt = issuedAt
        self.expiresAt = expiresAt
        self.nonce = nonce
        self.instanceExpiresAt = instanceExpiresAt
    }

    /// Returns the token as a compact JWT, with `alg` and `kid` and no `typ` in the header. The members have a fixed
    /// order, and slashes are not escaped.
    public func signed(with secret: ApplicationSecret) -> String {
        let day = UTCDay(of: issuedAt)
        let header = #"{"alg":"HS256","kid":"\#(KeyId(day).text)"}"#
        let signed = "\(Base64.encodeURLSafe(header.utf8)).\(Base64.encodeURLSafe(claims))"
        let code = HMAC<SHA256>.authenticationCode(for: Array(signed.utf8), using: secret.signingKey(for: day))
        return "\(signed).\(Base64.encodeURLSafe(code))"
    }

    /// Returns whether a text is a valid user id: 1 to 40 printable ASCII characters, without spaces.
    public static func isUserId(_ text: String) -> Bool { Name.isUserId(text) }

    /// Returns a nonce of 128 random bits.
    public static func freshNonce() -> String {
        var random = SystemRandomNumberGenerator()
        return Hexadecimal.text((0..<16).map { _ in UInt8.random(in: .min ... .max, using: &random) })
    }

    /// The name of the claim with the end of the registration.
    static let instanceExpiry: StaticString = "sinch:rtc:instance:exp"

    /// The claims as JSON. Slashes are not escaped, as in the published tokens.
    private var claims: [UInt8] {
        var text = JSONWriter()
        text.object { text in
            text.member("exp", expiresAt)
            text.member("iat", issuedAt)
            text.member("iss", Name.application(applicationKey))
            text.member("nonce", nonce)
            if let instanceExpiresAt { text.member(Self.instanceExpiry, instanceExpiresAt) }
            text.member("sub", Name.user(userId, of: applicationKey))
        }
        return text.take()
    }
}
