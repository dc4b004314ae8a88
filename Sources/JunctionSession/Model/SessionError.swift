/// Why a request was not fulfilled: the kind every client can act on, and a sentence for a person.
package struct SessionError: Error, Hashable, Sendable {
    package var kind: Kind
    /// What happened, to what, and what to do. Never a secret.
    package var message: String
    /// How long to wait before asking again, where that helps.
    package var retryAfter: Duration?
    /// `alreadySignedIn`: who is.
    package var userId: String?
    /// `sessionTerminated`: why.
    package var termination: Termination?
    /// `invalidParameters`: the largest validity that could be asked for.
    package var maximum: Duration?
    /// What somebody at a terminal can do about it, where that depends on the cause and not on the kind alone.
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

    /// The provider gave no usable answer, or one that shows that the configuration is wrong.
    package init(_ failure: Unavailability, remedy: String? = nil) {
        let kind: Kind = failure.cause == .configuration ? .misconfigured : .providerUnavailable
        self.init(kind, failure.message, retryAfter: failure.retryAfter, remedy: remedy)
    }
}
