/// An error in its HTTP form (RFC 9457).
package struct Problem: Equatable, Sendable {
    /// The HTTP status.
    package var status: Int
    /// The kind of error, in a sentence.
    package var title: String
    /// What happened, to which object, and what to do.
    package var detail: String
    /// The word for the error, as in the header `Junction-Error`.
    package var kind: String
    /// How many seconds to wait before the next attempt, if that helps.
    package var retryAfter: Double?
    /// If another user is signed in: that user.
    package var userId: String?
    /// If the user was deleted, disabled or banned: the reason.
    package var termination: Termination?
    /// The capability that the caller lacks.
    package var capability: String?
    /// For a duration that was too large: the largest possible value.
    package var maximum: Double?
    /// What a user at a terminal can do, if the cause is known.
    package var remedy: String?
}

extension Problem {
    /// Makes the HTTP form of an error.
    package init(_ error: WireError, status: Int? = nil) {
        let code = error.knownCode ?? .internalError
        self.init(
            status: status ?? code.httpStatus,
            title: code.httpTitle,
            detail: error.message,
            kind: code.word,
            retryAfter: error.retryAfter,
            userId: error.userId,
            termination: error.termination,
            capability: error.capability,
            maximum: error.maximum,
            remedy: error.remedy
        )
    }
}

extension Problem: WireObject {
    package static let fields = Fields(
        at: "problem",
        Problem.init(status:title:detail:kind:retryAfter:userId:termination:capability:maximum:remedy:),
        Field("status", \.status, .count, "the HTTP status"),
        Field("title", \.title, .string, "what kind of error it is, in a sentence"),
        Field("detail", \.detail, .string, "what happened, to what, and what to do"),
        Field("kind", \.kind, .string(of: ErrorCode.allCases.map(\.word)), "the word for the error"),
        Field("retryAfter", \.retryAfter, ifPresent: .seconds, "how long to wait before asking again"),
        Field("userId", \.userId, ifPresent: .string, "alreadySignedIn: who is"),
        Field("termination", \.termination, ifPresent: .object, "sessionTerminated: why"),
        Field("capability", \.capability, ifPresent: .string, "permissionDenied: what it takes"),
        Field("maximum", \.maximum, ifPresent: .seconds, "how much could be asked for"),
        Field("remedy", \.remedy, ifPresent: .string, "what somebody at a terminal can do, where the cause is known")
    )

    package static let schema = Schema.reference("Problem")
}

extension ErrorCode {
    /// The meaning of the code for HTTP, where there are no lines or methods.
    fileprivate var httpTitle: String {
        switch self {
        case .parseError, .invalidRequest: "The request cannot be answered as it is"
        case .methodNotFound: "There is no such page"
        case .invalidParams, .internalError, .alreadySignedIn, .invalidCredential, .notSignedIn: summary
        case .reauthenticationRequired, .sessionTerminated, .providerUnavailable, .permissionDenied: summary
        case .incompatibleCredential, .storageUnavailable, .tokenExpired, .busy, .unsupported, .misconfigured: summary
        }
    }

    /// The HTTP status of the error.
    package var httpStatus: Int {
        switch self {
        case .parseError, .invalidRequest, .invalidParams, .invalidCredential: 400
        case .notSignedIn, .reauthenticationRequired: 401
        case .permissionDenied, .sessionTerminated: 403
        case .methodNotFound: 404
        case .alreadySignedIn, .incompatibleCredential: 409
        case .busy: 429
        case .internalError: 500
        case .unsupported: 501
        case .providerUnavailable, .storageUnavailable, .tokenExpired, .misconfigured: 503
        }
    }
}
