extension RegistrationToken {
    /// A rule for registration tokens. As an error, it is the first rule that a token breaks.
    public enum Rule: String, Error, CaseIterable, Sendable {
        /// The token has three parts of unpadded Base64URL, joined by dots. The first two are JSON objects.
        case form
        /// `alg` is `HS256`.
        case algorithm
        /// `kid` is `hkdfv1-` and a date of eight digits.
        case keyIdForm
        /// The date in `kid` is the UTC day of `iat`, or within five minutes of midnight the adjacent day.
        case keyIdDate
        /// `iss` is `//rtc.sinch.com/applications/{APPLICATION_KEY}`.
        case issuer
        /// `sub` is the issuer and `/users/{USER_ID}`. The user id has 1 to 40 printable ASCII characters.
        case subject
        /// `sub` belongs to the application of `iss`.
        case subjectApplication
        /// `iat` is present, in seconds.
        case issuedAt
        /// `exp` is present, in seconds.
        case expiresAt
        /// The time to live (`exp` − `iat`) is at least a minute.
        case timeToLive
        /// `nonce` is present and not empty.
        case nonce
        /// `sinch:rtc:instance:exp`, if present, is at least 48 hours after `iat`.
        case instanceExpiry
        /// The signature was made with the key of the day in `kid`.
        case signature
        /// The token is for the expected application.
        case application
        /// The token is for the expected user.
        case user
        /// `iat` is not in the future.
        case notYetValid
        /// `exp` is not in the past.
        case expired
    }
}

extension RegistrationToken.Rule: CustomStringConvertible {
    /// The error in one line, which never quotes the token.
    public var description: String {
        switch self {
        case .form: "it is not a JWT: three parts of Base64URL without padding, the first two JSON objects"
        case .algorithm: "alg is not HS256"
        case .keyIdForm: "kid is not hkdfv1-YYYYMMDD"
        case .keyIdDate: "the date in kid is not the UTC date of iat: format the date in UTC, whatever the time zone"
        case .issuer: "iss is not //rtc.sinch.com/applications/{APPLICATION_KEY}"
        case .subject: "sub is not {iss}/users/{USER_ID} with a user id of 1 to 40 printable ASCII characters"
        case .subjectApplication: "sub is under another application than iss"
        case .issuedAt: "iat is not a time in seconds since 1970"
        case .expiresAt: "exp is not a time in seconds since 1970"
        case .timeToLive: "exp is less than 60 seconds after iat"
        case .nonce: "nonce is missing or empty"
        case .instanceExpiry: "sinch:rtc:instance:exp is not a time at least 48 hours after iat"
        case .signature: "the signature does not match: another secret, or a key not derived for the date in kid"
        case .application: "it is for another application"
        case .user: "it is for another user"
        case .notYetValid: "iat is in the future: compare the clocks"
        case .expired: "it has expired"
        }
    }
}
