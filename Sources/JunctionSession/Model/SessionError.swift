/// The error of a request: a kind for programs, and a sentence for a person.
package struct SessionError: Error, Hashable, Sendable {
    package var kind: Kind
    /// What happened, to what, and what to do. Never a secret.
    package var message: String
    /// The time after which a repeated request may succeed.
    package var retryAfter: Duration?
    /// `alreadySignedIn`: the signed-in user.
    package var userId: String?
    /// `sessionTerminated`: the reason.
    package var termination: Termination?
    /// `invalidParameters`: the largest permitted validity.
    package var maximum: Duration?
    /// What the user of a terminal can do, if that depends on the cause and not only on the kind.
    package var remedy: String?

    /// The application errors of the wire, and the one parameter error that depends on the session's state.
    package enum Kind: String, Sendable, CaseIterable {
        case alreadySignedIn
        case invalidCredential
        case notSignedIn
        case reauthenticationRequired
        case sessionTerminated
        case providerUnavailable
        case permissionDenied
        case incompatibleCredential
        case storageUnavailable
        case tokenExpired
        case busy
        case unsupported
        case misconfigured
        case invalidParameters
    }

    package init(
        _ kind: Kind,
        _ message: String,
        retryAfter: Duration? = nil,
        userId: String? = nil,
        termination: Termination? = nil,
        maximum: Duration? = nil,
        remedy: String? = nil
    ) {
        self.kind = kind
        self.message = message
        self.retryAfter = retryAfter
        self.userId = userId
        self.termination = termination
        self.maximum = maximum
        self.remedy = remedy
    }

    /// Creates the error of a request without a usable answer, or with an answer that shows a wrong configuration.
    package init(_ failure: Unavailability, remedy: String? = nil) {
        let kind: Kind = failure.cause == .configuration ? .misconfigured : .providerUnavailable
        self.init(kind, failure.message, retryAfter: failure.retryAfter, remedy: remedy)
    }
}
