/// Why a request to the provider, or a renewal, came to nothing: network, TLS, timeout, 5xx, 429, redirect, unreadable body; as the log
/// and the metrics show it, also a verdict (`RenewalFailure.reported`).
package struct Unavailability: Error, Hashable, Sendable {
    package var cause: Cause
    /// What happened, to what, in one line without secrets.
    package var detail: String
    /// What to do, where `detail` does not say it.
    package var remedy: String?
    /// The host that the request was for, if it was for any.
    package var host: String?
    /// What the provider asked for, clamped to 1 s…1 h.
    package var retryAfter: Duration?
    /// The request may have reached the provider and been acted on: its answer is what is missing.
    package var ambiguous: Bool
    /// How long ago the request left, where that is known: a name and a connection may have taken their time before. The
    /// provider's grace begins with it.
    package var sentAgo: Duration?
    /// The provider refused the session's refresh token, and no error code of RFC 6749 gives the reason. One such refusal means
    /// nothing; the session judges many.
    package var isUnexplainedRefusal = false

    /// What kind of failure it is. Fixed words: they are labels of a metric.
    package enum Cause: String, Sendable, CaseIterable {
        /// A name could not be resolved.
        case name
        /// No connection came about, or it broke.
        case connection
        /// Something took too long.
        case timeout
        /// TLS: a certificate, of theirs or of ours.
        case certificate
        case proxy
        /// The network helper failed.
        case courier
        /// The provider asks to wait (429, 503).
        case busy
        /// The provider has an error of its own (5xx).
        case server
        /// The answer is malformed, or its status is none that is expected.
        case answer
        /// What a session handler gave was refused.
        case handler
        /// The provider has forgotten this installation.
        case registration
        /// The provider refused the credential of a sign-in.
        case credential
        /// The configuration does not fit the provider: another issuer, a client that it does not take.
        case configuration
        /// The provider wants a new credential.
        case reauthentication
        /// The provider has ended the session.
        case termination
        case other
    }

    package init(
        _ detail: String,
        remedy: String? = nil,
        cause: Cause = .other,
        host: String? = nil,
        retryAfter: Duration? = nil,
        ambiguous: Bool = false,
        sentAgo: Duration? = nil
    ) {
        self.cause = cause
        self.detail = detail
        self.remedy = remedy
        self.host = host
        self.retryAfter = retryAfter
        self.ambiguous = ambiguous
        self.sentAgo = sentAgo
    }

    /// What happened, to what, and what to do.
    package var message: String { remedy.map { "\(detail): \($0)" } ?? detail }

    /// Compares message, pause and ambiguity. Cause, host, the age of the request and `isUnexplainedRefusal` do not count.
    package static func == (left: Unavailability, right: Unavailability) -> Bool {
        left.message == right.message && left.retryAfter == right.retryAfter && left.ambiguous == right.ambiguous
    }

    package func hash(into hasher: inout Hasher) {
        hasher.combine(message)
        hasher.combine(retryAfter)
        hasher.combine(ambiguous)
    }
}

extension Unavailability {
    /// What the log says of a failure for which a caller got this refusal.
    init(_ refusal: SessionError, cause: Cause, host: String? = nil) {
        self.init(refusal.message, remedy: refusal.remedy, cause: cause, host: host)
    }
}
