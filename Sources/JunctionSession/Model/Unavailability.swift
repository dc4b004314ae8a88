/// The reason why a provider request or a renewal failed: network, TLS, timeout, 5xx, 429, redirect, unreadable body.
/// In the log and the metrics it also stands for a verdict (`RenewalFailure.report`).
package struct Unavailability: Error, Hashable, Sendable {
    package var cause: Cause
    /// What happened, to what, in one line without secrets.
    package var detail: String
    /// What to do, if `detail` does not say it.
    package var remedy: String?
    package var host: String?
    /// The provider's `Retry-After`, clamped to 1 s…1 h.
    package var retryAfter: Duration?
    /// Whether the request may have reached the provider and taken effect, and only its answer is missing.
    package var ambiguous: Bool
    /// The time since the request was sent, if it is known. Name resolution and connection may have taken time before
    /// that. The provider's grace begins when the request is sent.
    package var sentAgo: Duration?
    /// Whether the provider refused the session's refresh token without an error code that gives a reason. One such
    /// refusal means nothing; the session counts several.
    package var isUnexplainedRefusal = false

    /// The kind of a failure. The raw values are labels of a metric and must not change.
    package enum Cause: String, Sendable, CaseIterable {
        /// A name could not be resolved.
        case name
        case connection
        case timeout
        /// TLS: the certificate of the server or of this client.
        case certificate
        case proxy
        case networkHelper = "courier"
        /// The provider asks the daemon to wait (429, 503).
        case busy
        /// The provider has an internal error (5xx).
        case server
        /// The answer is malformed, or its status is unexpected.
        case answer
        /// The provider refused a handler's secret.
        case handler
        /// The provider has forgotten this installation.
        case registration
        /// The provider refused the credential of a sign-in.
        case credential
        /// The configuration does not match the provider: another issuer, or a client that the provider does not
        /// accept.
        case configuration
        /// The provider demands a new credential.
        case reauthentication
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

    /// Compares message, pause and ambiguity. Cause, host, the age of the request and `isUnexplainedRefusal` do not
    /// count.
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
    /// Creates the log entry of a failure for which a caller got this refusal.
    init(_ refusal: SessionError, cause: Cause, host: String? = nil) {
        self.init(refusal.message, remedy: refusal.remedy, cause: cause, host: host)
    }
}
