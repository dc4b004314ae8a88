/// The reason why a renewal brought no token.
package enum RenewalFailure: Error, Hashable, Sendable {
    /// A handler's secret is malformed, for another user, or refused. Another handler may have a better one.
    case answerRefused(String)
    /// The provider has forgotten this installation. A new registration is needed, and the session is kept.
    case registrationForgotten
    /// The provider's explicit verdict that the user is deleted, disabled or banned.
    case terminated(code: String, message: String)
    /// The provider demands a new credential. The session is kept.
    case reauthenticationRequired
    /// Any other failure, which is always transient.
    case unavailable(Unavailability)
}

/// The provider's explicit statement that a user is deleted, disabled or banned.
package struct Verdict: Hashable, Sendable {
    /// The provider's code as a string: `invalid_token`, `400312`, …
    package var code: String
    package var message: String

    package init(code: String, message: String) {
        self.code = code
        self.message = message
    }
}
