package import JunctionJSON

/// The daemon's question to a session handler: the access token is to be renewed, how?
package enum SessionWillRenewAccessToken: MethodDefinition {
    package typealias Params = RenewalRequest
    package typealias Answer = RenewalAnswer

    package static let name: StaticString = "session.willRenewAccessToken"
    package static let capability: Capability? = .handle
    package static let summary = "Asks a session handler how to renew the access token"
}

/// A renewal that a session handler has to decide about.
public struct RenewalRequest: Hashable, Sendable {
    /// Which renewal it is.
    public var renewalId: String
    /// Why there is one.
    public var reason: Reason
    /// Whose token it is.
    public var userId: String
    /// When the present token dies, if there is one.
    public var expiresAt: Timestamp?
    /// When the daemon stops waiting for the answer.
    public var deadline: Timestamp

    /// Puts a request together.
    public init(renewalId: String, reason: Reason, userId: String, expiresAt: Timestamp?, deadline: Timestamp) {
        self.renewalId = renewalId
        self.reason = reason
        self.userId = userId
        self.expiresAt = expiresAt
        self.deadline = deadline
    }

    /// Why a token is renewed, in one word.
    public struct Reason: WireWord {
        /// The word on the wire.
        public var rawValue: String
        /// Takes any word.
        public init(rawValue: String) { self.rawValue = rawValue }

        /// There is none yet.
        public static let missing = Reason(rawValue: "missing")
        /// It is going to die.
        public static let expiring = Reason(rawValue: "expiring")
        /// It is dead.
        public static let expired = Reason(rawValue: "expired")
        /// The provider does not take it any more.
        public static let rejected = Reason(rawValue: "rejected")
        /// Somebody asked for it with `session.renew`.
        public static let requested = Reason(rawValue: "requested")

        static let known: [Reason] = [.missing, .expiring, .expired, .rejected, .requested]
    }
}

extension RenewalRequest: WireParams {
    package init(reading value: JSONValue) throws(WireMismatch) {
        let members = try Members(value, at: "params")
        renewalId = try members.text("renewalId")
        reason = try members.word("reason")
        userId = try members.text("userId")
        expiresAt = try members.optionalTimestamp("expiresAt")
        deadline = try members.timestamp("deadline")
    }

    package func write(to writer: inout JSONWriter) {
        writer.object { writer in
            writer.member("renewalId", renewalId)
            writer.member("reason", reason.rawValue)
            writer.member("userId", userId)
            writer.member("expiresAt", expiresAt)
            writer.member("deadline", deadline)
        }
    }

    package static let members = [
        Member("renewalId", .string, "which renewal it is"),
        Member("reason", .word(Reason.known.map(\.rawValue)), "why there is one"),
        Member("userId", .string, "whose token it is"),
        Member("expiresAt", .orNull(.timestamp), "when the present token dies"),
        Member("deadline", .timestamp, "when the daemon stops waiting for the answer"),
    ]
}

/// What a session handler decides about a renewal.
public enum RenewalAnswer: Equatable, Sendable {
    /// The daemon shall renew with what it has.
    case renew
    /// The daemon shall renew with this token from the app's backend.
    case renewWithAuthToken(SecretText)
    /// The daemon shall register anew with this legacy signature.
    case renewWithSignature(SecretText, sequence: UInt64)
    /// Not now; the daemon asks again in ten minutes at the earliest.
    case unableToRetrieveAuthToken
}

extension RenewalAnswer: WireValue {
    package init(reading value: JSONValue) throws(WireMismatch) {
        let members = try Members(value, at: "result")
        switch try members.text("action") {
        case "renew":
            self = .renew
        case "renewWithAuthToken":
            self = .renewWithAuthToken(try members.secret("authToken"))
        case "renewWithSignature":
            self = .renewWithSignature(
                try members.secret("signature"),
                sequence: try members.sequence("sequence")
            )
        case "unableToRetrieveAuthToken":
            self = .unableToRetrieveAuthToken
        default:
            throw members.mismatch("action", "must be one of \(Self.actions.joined(separator: ", "))")
        }
    }

    package func write(to writer: inout JSONWriter) {
        writer.object { writer in
            switch self {
            case .renew:
                writer.member("action", "renew")
            case .renewWithAuthToken(let token):
                writer.member("action", "renewWithAuthToken")
                writer.member("authToken", secret: token.box)
            case .renewWithSignature(let signature, let sequence):
                writer.member("action", "renewWithSignature")
                writer.member("signature", secret: signature.box)
                writer.member("sequence", String(sequence))
            case .unableToRetrieveAuthToken:
                writer.member("action", "unableToRetrieveAuthToken")
            }
        }
    }

    private static let actions = ["renew", "renewWithAuthToken", "renewWithSignature", "unableToRetrieveAuthToken"]

    package static let schema = Schema.object([
        Member("action", .word(actions), "what the daemon shall do"),
        Member("authToken", .secret, "renewWithAuthToken: the token", optional: true),
        Member("signature", .secret, "renewWithSignature: the signature", optional: true),
        Member("sequence", .string, "renewWithSignature: the number that was signed, in decimal", optional: true),
    ])
}
