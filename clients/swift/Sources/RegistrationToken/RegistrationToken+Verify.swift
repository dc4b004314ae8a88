import Crypto
import JunctionText

extension RegistrationToken {
    /// The most bytes that are read as a token; real ones have about 500.
    public static let longest = 4_096

    /// Reads a token and checks all that can be checked without the secret and without a clock.
    ///
    /// Members may stand in any order, and there may be others (`typ` among them). The signature is not looked at: for
    /// that there is ``verify(_:with:at:tolerance:)``.
    ///
    /// - Parameter jwt: the bytes of the compact form, such as `text.utf8`.
    public static func inspect(_ jwt: some Collection<UInt8>) throws(Rule) -> RegistrationToken {
        try Opened(jwt).token
    }

    /// Reads a token and checks all of it: form, claims, signature and time.
    ///
    /// For whom it is, is the caller's to decide: ``requireApplication(_:)``, ``requireUser(_:)``.
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
        // The library compares in a time that does not depend on where the first difference is.
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

    /// Throws unless the token can be presented now, give or take what the clocks may differ by.
    public func requireTime(_ now: Int64, tolerance: Int64 = 60) throws(Rule) {
        // Times of a token lie within four-digit years, so that nothing overflows on this side.
        guard now >= issuedAt - tolerance else { throw .notYetValid }
        guard now < expiresAt + tolerance else { throw .expired }
    }
}

extension RegistrationToken {
    /// By how many seconds a server may have read the clock for the key's date before or after it read it for `iat`, or have
    /// moved `iat` so that a client whose clock is slow may present the token.
    static let dateTolerance: Int64 = 300

    /// The days whose key a server may have used: the day of `iat`, and close to midnight its neighbour.
    fileprivate var signingDays: [UTCDay] {
        [issuedAt, issuedAt - Self.dateTolerance, issuedAt + Self.dateTolerance]
            .filter(UTCDay.seconds.contains).map(UTCDay.init(of:))
    }
}

/// A token taken apart, its claims checked and its signature not.
private struct Opened {
    let token: RegistrationToken
    /// The day whose key it names.
    let day: UTCDay
    /// The bytes that the signature is about.
    let signed: [UInt8]
    let signature: [UInt8]

    init(_ jwt: some Collection<UInt8>) throws(RegistrationToken.Rule) {
        guard jwt.count <= RegistrationToken.longest else { throw .form }
        let parts = jwt.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
        guard parts.count == 3, let header = Base64.decode(parts[0], .urlSafe).flatMap(JSONText.object),
            let claims = Base64.decode(parts[1], .urlSafe).flatMap(JSONText.object),
            let signature = Base64.decode(parts[2], .urlSafe),
            // What a reader must understand and we do not: RFC 7515 wants such a token refused.
            header["crit"] == nil
        else { throw .form }

        guard header["alg"]?.text == "HS256" else { throw .algorithm }
        guard let keyId = header["kid"]?.text.flatMap(KeyId.init(reading:)) else { throw .keyIdForm }
        let instanceExpiry = claims[Claim.instanceExpiry]
        guard instanceExpiry == nil || instanceExpiry?.whole != nil else { throw .instanceExpiry }
        token = try RegistrationToken(
            issuer: claims["iss"]?.text ?? "",
            subject: claims["sub"]?.text ?? "",
            issuedAt: claims["iat"]?.whole,
            expiresAt: claims["exp"]?.whole,
            nonce: claims["nonce"]?.text,
            instanceExpiresAt: instanceExpiry?.whole
        )
        guard let day = token.signingDays.first(where: { KeyId($0) == keyId }) else { throw .keyIdDate }
        self.day = day
        signed = Array(jwt.prefix(parts[0].count + 1 + parts[1].count))
        self.signature = signature
    }
}
