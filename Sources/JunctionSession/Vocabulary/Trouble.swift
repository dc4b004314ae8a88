/// Why a renewal brought nothing, for whoever looks into it: the log and the metrics. Never a secret.
package struct Trouble: Hashable, Sendable {
    package var cause: Cause
    /// What happened, to what, and what to do.
    package var message: String
    /// Whom the request was for, if it was for anybody.
    package var host: String?
    /// When it is tried again, if that is known.
    package var nextAttempt: WallTime?

    /// What kind of trouble it is. Fixed words: they are labels of a metric.
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
        /// There is nobody who carries the request to the network.
        case courier
        /// The provider asks to wait (429, 503).
        case busy
        /// The provider has an error of its own (5xx).
        case server
        /// The answer makes no sense, or is not the one that was hoped for.
        case answer
        /// What a session handler gave was refused.
        case handler
        /// The provider has forgotten this installation.
        case registration
        /// The provider wants a new credential.
        case reauthentication
        /// The provider has ended the session.
        case termination
        case other
    }

    package init(_ cause: Cause, _ message: String, host: String? = nil, nextAttempt: WallTime? = nil) {
        self.cause = cause
        self.message = message
        self.host = host
        self.nextAttempt = nextAttempt
    }
}

extension Trouble {
    init(_ failure: RenewalFailure, nextAttempt: WallTime?) {
        switch failure {
        case .unavailable(let failure):
            self.init(failure.cause, failure.message, host: failure.host, nextAttempt: nextAttempt)
        case .answerRefused(let reason):
            self.init(.handler, reason, nextAttempt: nextAttempt)
        case .registrationForgotten:
            self.init(.registration, "The provider has forgotten this installation", nextAttempt: nextAttempt)
        case .reauthenticationRequired:
            self.init(.reauthentication, Refusal.reauthenticationRequired.message)
        case .terminated(let code, let message):
            self.init(.termination, "\(message) (\(code))")
        }
    }
}
