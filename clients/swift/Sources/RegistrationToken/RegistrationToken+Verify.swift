import Crypto
import JunctionJSON
import JunctionText

extension RegistrationToken {
    /// The longest accepted token, in bytes. Usual tokens have about 500.
    public static let longest = 4_096

    /// Reads a token, and checks all rules that need neither the secret nor a clock.
    ///
    /// Members may have any order, and there may be others, such as `typ`. The signature is not checked; use
    /// ``verify(_:with:at:tolerance:)`` for that.
    ///
    /// - Parameter jwt: the bytes of the compact form, such as `text.utf8`.
    public static func inspect(_ jwt: some Collection<UInt8>) throws(Rule) -> RegistrationToken {
        try Opened(jwt).token
    }

    /// Reads a token, and checks its form, claims, signature and times.
    ///
    /// The caller checks for whom the token is, with ``requireApplication(_:)`` and ``requireUser(_:)``.
    ///
    /// - Parameters:
    ///   - jwt: the bytes of the compact form, such as `text.utf8`.
    ///   - secret: the secret of the application.
    ///   - now: the present time, in seconds since 1970.
    ///   - tolerance: by how many seconds the two clocks may differ.
    public static func verify(
        _ jwt: some Collection<UInt8>,
        with secret: ApplicationSecret,
        at now: Int64,
        tolerance: Int64 = 60
    ) throws(Rule) -> RegistrationToken {
        let opened = try Opened(jwt)
        // The library compares in a time that does not depend on the position of the first difference.
        let isGenuine = HMAC<SHA256>.isValidAuthenticationCode(
            opened.signature,
            authenticating: opened.signed,
            using: secret.signingKey(for: opened.day)
        )
        guard isGenuine else { throw .signature }
        try opened.token.requireTime(now, tolerance: tolerance)
        return opened.token
    }

    /// Throws unless the token is for this application.
    public func requireApplication(_ applicationKey: String) throws(Rule) {
        guard self.applicationKey.utf8.elementsEqual(applicationKey.utf8) else { throw .application }
    }

    /// Throws unless the token is for this user.
    public func requireUser(_ userId: String) throws(Rule) {
        guard self.userId.utf8.elementsEqual(userId.utf8) else { throw .user }
    }

    /// Throws unless the token can be presented now, with a tolerance for clock differences.
    public func requireTime(_ now: Int64, tolerance: Int64 = 60) throws(Rule) {
        // The times of a token are within years of four digits, so this arithmetic cannot overflow.
        guard now >= issuedAt - tolerance else { throw .notYetValid }
        guard now < expiresAt + tolerance else { throw .expired }
    }
}

extension RegistrationToken {
    /// How many seconds may lie between the time for the key's date and `iat`. A server may read the clock for each
    /// separately, or move `iat` so that a client with a slow clock may present the token.
    static let dateTolerance: Int64 = 300

    /// The days whose key a server may have used: the day of `iat`, and close to midnight the adjacent day.
    fileprivate var signingDays: [UTCDay] {
        [issuedAt, issuedAt - Self.dateTolerance, issuedAt + Self.dateTolerance]
            .filter(UTCDay.seconds.contains).map(UTCDay.init(of:))
    }
}

/// A parsed token with checked claims and an unchecked signature.
private struct Opened {
    let token: RegistrationToken
    /// The day of the key that the token names.
    let day: UTCDay
    /// The signed bytes.
    let signed: [UInt8]
    let signature: [UInt8]

    init(_ jwt: some Collection<UInt8>) throws(RegistrationToken.Rule) {
        guard jwt.count <= RegistrationToken.longest else { throw .form }
        let parts = jwt.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
        guard parts.count == 3, let header = Base64.decode(parts[0], .urlSafe).flatMap(Self.object),
            let claims = Base64.decode(parts[1], .urlSafe).flatMap(Self.object),
            let signature = Base64.decode(parts[2], .urlSafe),
            // A header with `crit` requires extensions that this reader does not support. RFC 7515 requires refusing
            // such a token.
            header["crit"] == nil
        else { throw .form }

        guard header["alg"]?.stringEquals("HS256") == true else { throw .algorithm }
        guard let keyId = header["kid"]?.string.flatMap(KeyId.init(reading:)) else { throw .keyIdForm }
        let instanceExpiry = claims[RegistrationToken.instanceExpiry]
        guard instanceExpiry == nil || instanceExpiry?.seconds != nil else { throw .instanceExpiry }
        token = try RegistrationToken(
            issuer: claims["iss"]?.string ?? "",
            subject: claims["sub"]?.string ?? "",
            issuedAt: claims["iat"]?.seconds,
            expiresAt: claims["exp"]?.seconds,
            nonce: claims["nonce"]?.string,
            instanceExpiresAt: instanceExpiry?.seconds
        )
        guard let day = token.signingDays.first(where: { KeyId($0) == keyId }) else { throw .keyIdDate }
        self.day = day
        signed = Array(jwt.prefix(parts[0].count + 1 + parts[1].count))
        self.signature = signature
    }
    private static func object(_ text: [UInt8]) -> JSONValue? {
        guard let value = try? JSONValue.parse(text), value.kind == .object else { return nil }
        return value
    }
}

extension JSONValue {
    /// A NumericDate in whole seconds. A NumericDate may have a fraction (RFC 7519, section 2), but no rule depends on
    /// the fraction.
    fileprivate var seconds: Int64? { integer ?? double.flatMap { Int64(exactly: $0.rounded(.down)) } }
}
