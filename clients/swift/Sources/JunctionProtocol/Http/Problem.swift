/// An error as it is told over HTTP (RFC 9457).
package struct Problem: Equatable, Sendable {
    /// The HTTP status.
    package var status: Int
    /// What kind of error it is, in a sentence.
    package var title: String
    /// What happened, to what, and what to do.
    package var detail: String
    /// The word for the error, as in the header `Junction-Error`.
    package var kind: String
    /// How many seconds to wait before asking again, where that helps.
    package var retryAfter: Double?
    /// Another user is signed in: who is.
    package var userId: String?
    /// The user was deleted, disabled or banned: why.
    package var termination: Termination?
    /// The capability that the caller lacks.
    package var capability: String?
    /// A length of time that was too large: how much is possible.
    package var maximum: Double?
    /// What somebody at a terminal can do about it, where the cause is known.
    package var remedy: String?

    package init(
        status: Int,
        title: String,
        detail: String,
        kind: String,
        retryAfter: Double? = nil,
        userId: String? = nil,
        termination: Termination? = nil,
        capability: String? = nil,
        maximum: Double? = nil,
        remedy: String? = nil
    ) {
        self.status = status
        self.title = title
        self.detail = detail
        self.kind = kind
        self.retryAfter = retryAfter
        self.userId = userId
        self.termination = termination
        self.capability = capability
        self.maximum = maximum
        self.remedy = remedy
    }

    /// The same error as the other socket tells it.
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
    /// What it means where no lines and no methods are spoken of.
    fileprivate var httpTitle: String {
        switch self {
        case .parseError, .invalidRequest: "The request cannot be answered as it is"
        case .methodNotFound: "There is no such page"
        case .invalidParams, .internalError, .alreadySignedIn, .invalidCredential, .notSignedIn: summary
        case .reauthenticationRequired, .sessionTerminated, .providerUnavailable, .permissionDenied: summary
        case .incompatibleCredential, .storageUnavailable, .tokenExpired, .busy, .unsupported, .misconfigured: summary
        }
    }

    /// The status with which it is told over HTTP.
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
