/// An event for logs and metrics. It never contains a secret.
package enum SessionEvent: Hashable, Sendable {
    /// The end of an exchange, with the reason unless it succeeded.
    case exchangeEnded(Outcome, Unavailability? = nil)
    /// The provider's page for a sign-in in a browser could not be found, for this reason.
    case authorizationPageFailed(Unavailability)
    /// The end of a renewal, with the reason unless it succeeded, and with the time of the next attempt if it is known.
    case renewalEnded(Outcome, Unavailability? = nil, nextAttempt: WallTime? = nil)
    case signedOut
    /// The provider has forgotten the session, and a new registration is due.
    case registrationForgotten
    /// A revocation was given up: the provider has not confirmed it. The value is the reason in words.
    case revocationGivenUp(String)
    case writeFailed(String)

    package enum Outcome: String, Sendable, CaseIterable {
        case succeeded
        case refused
        case unavailable
        case reauthenticationRequired
        case terminated
    }
}
