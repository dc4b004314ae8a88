import Crypto
import JunctionText

/// A token with which an application's server lets one user register one application instance with Sinch.
///
/// A server mints it for a user it has authenticated:
/// ```swift
/// let secret = try ApplicationSecret(base64: bytesOfTheSecretFile)
/// let token = try RegistrationToken(applicationKey: key, userId: "alice", issuedAt: now)
/// let jwt = token.signed(with: secret)
/// ```
/// and whoever gets one reads it back with ``verify(_:with:at:tolerance:)``, or with ``inspect(_:)`` where the secret
/// is not at hand. All times are whole seconds since 1970-01-01T00:00:00Z, as in a JWT.
public struct RegistrationToken: Hashable, Sendable {
    /// The key of the application that lets the user in.
    public let applicationKey: String
    /// Whom the token is for.
    public let userId: String
    /// When it was made (`iat`).
    public let issuedAt: Int64
    /// Until when it can be presented (`exp`).
    public let expiresAt: Int64
    /// What makes it different from every other token.
    public let nonce: String
    /// When the registration that it brings ends; `nil` for one without an end.
    public let instanceExpiresAt: Int64?

    /// What the vendor's own examples give a token to live, in seconds; the documentation names only the minimum.
    public static let usualTimeToLive: Int64 = 600
    /// The least that a token may live, in seconds.
    public static let shortestTimeToLive: Int64 = 60
    /// The least that a limited registration may live, in seconds: 48 hours.
    public static let shortestInstanceTimeToLive: Int64 = 48 * 3_600
    /// The most characters of a user id.
    public static let longestUserId = 40

    /// A token for one user; throws the rule that it would break.
    ///
    /// - Parameters:
    ///   - applicationKey: the key of the application, as the vendor's dashboard shows it.
    ///   - userId: 1 to 40 printable ASCII characters, without spaces.
    ///   - issuedAt: now, in seconds since 1970.
    ///   - timeToLive: how many seconds it can be presented.
    ///   - instanceTimeToLive: how many seconds the registration lasts; without it, it has no end. A registration
    ///     that had an end can be extended later, but never be made endless.
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

    /// What the claims say, if they keep every rule that concerns nothing but them.
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

    /// The token as a compact JWT: `alg` and `kid` in the header and no `typ`, members in order, no escaped slashes.
    public func signed(with secret: ApplicationSecret) -> String {
        let day = UTCDay(of: issuedAt)
        let header = #"{"alg":"HS256","kid":"\#(KeyId(day).text)"}"#
        let signed = "\(Base64.encodeURLSafe(header.utf8)).\(Base64.encodeURLSafe(claims.utf8))"
        let code = HMAC<SHA256>.authenticationCode(for: Array(signed.utf8), using: secret.signingKey(for: day))
        return "\(signed).\(Base64.encodeURLSafe(code))"
    }

    /// Whether a text can be a user id: 1 to 40 printable ASCII characters, without spaces.
    public static func isUserId(_ text: String) -> Bool { Name.isUserId(text) }

    /// A nonce of 128 random bits.
    public static func freshNonce() -> String {
        var random = SystemRandomNumberGenerator()
        return Hexadecimal.text((0..<16).map { _ in UInt8.random(in: .min ... .max, using: &random) })
    }

    private var claims: String {
        var members = [
            #""exp":\#(expiresAt)"#,
            #""iat":\#(issuedAt)"#,
            #""iss":\#(JSONText.quoted(Name.application(applicationKey)))"#,
            #""nonce":\#(JSONText.quoted(nonce))"#,
        ]
        if let instanceExpiresAt { members.append(#""\#(Claim.instanceExpiry)":\#(instanceExpiresAt)"#) }
        members.append(#""sub":\#(JSONText.quoted(Name.user(userId, of: applicationKey)))"#)
        return "{\(members.joined(separator: ","))}"
    }
}
