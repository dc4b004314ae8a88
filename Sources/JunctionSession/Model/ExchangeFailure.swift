/// The refusal of a credential before anything was sent.
package enum CredentialRefused: Error, Equatable, Sendable {
    /// The rule that failed, in words without the credential.
    case malformed(String)
    /// A parameter beside the credential is wrong, such as a region. The token, key or code itself is not at fault.
    case misdescribed(String)
    /// This provider does not have the scheme.
    case unsupported(String)
    /// A member that the scheme needs is missing.
    case incomplete(String)
    /// A setting of the provider is missing.
    case misconfigured(String)

    /// The rule that failed, in words.
    package var reason: String {
        switch self {
        case .malformed(let reason), .misdescribed(let reason), .unsupported(let reason), .incomplete(let reason),
            .misconfigured(let reason):
            reason
        }
    }
}

/// The reason why an exchange brought no session.
package enum ExchangeFailure: Error, Equatable, Sendable {
    /// The provider has explicitly refused this credential.
    case refused(String)
    /// The provider says that this user is banned or deleted.
    case terminated(code: String, message: String)
    /// The credential belongs to another user than the expected one.
    case otherUser(Identity)
    /// Any other failure. It does not end a session.
    case unavailable(Unavailability)
}
