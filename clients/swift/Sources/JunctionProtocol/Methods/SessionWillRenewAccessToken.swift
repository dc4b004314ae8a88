package import JunctionJSON

/// The daemon's request to a session handler: how to renew the access token.
package enum SessionWillRenewAccessToken: MethodDefinition {
    package typealias Params = RenewalRequest
    package typealias Answer = RenewalAnswer

    package static let name: StaticString = "session.willRenewAccessToken"
    package static let capability: Capability? = .handle
    package static let summary = "Asks a session handler how to renew the access token"
}

/// A renewal about which a session handler decides.
public struct RenewalRequest: Hashable, Sendable {
    /// The id of the renewal.
    public var renewalId: String
    /// The reason for the renewal.
    public var reason: Reason
    /// The user whose token is renewed.
    public var userId: String
    /// When the present token expires, if there is one.
    public var expiresAt: Timestamp?
    /// When the daemon stops waiting for the answer.
    public var deadline: Timestamp

    /// Makes a request.
    public init(renewalId: String, reason: Reason, userId: String, expiresAt: Timestamp?, deadline: Timestamp) {
        self.renewalId = renewalId
        self.reason = reason
        self.userId = userId
        self.expiresAt = expiresAt
        self.deadline = deadline
    }

    /// The reason for a renewal.
    public struct Reason: WireWord {
        /// The word on the wire.
        public var rawValue: String
        /// Makes a reason from any word.
        public init(rawValue: String) { self.rawValue = rawValue }

        /// There is no token yet.
        public static let missing = Reason(rawValue: "missing")
        /// The token is about to expire.
        public static let expiring = Reason(rawValue: "expiring")
        /// The token has expired.
        public static let expired = Reason(rawValue: "expired")
        /// The provider no longer accepts the token.
        public static let rejected = Reason(rawValue: "rejected")
        /// A caller requested the renewal with `session.renew`.
        public static let requested = Reason(rawValue: "requested")

        static let known: [Reason] = [.missing, .expiring, .expired, .rejected, .requested]
    }
}

extension RenewalRequest: WireParams, WireObject {
    package static let fields = Fields(
        at: "params",
        RenewalRequest.init(renewalId:reason:userId:expiresAt:deadline:),
        Field("renewalId", \.renewalId, .text, "which renewal it is"),
        Field("reason", \.reason, .word(Reason.known), "why there is one"),
        Field("userId", \.userId, .text, "whose token it is"),
        Field("expiresAt", \.expiresAt, orNull: .timestamp, "when the present token dies"),
        Field("deadline", \.deadline, .timestamp, "when the daemon stops waiting for the answer")
    )
}

/// The decision of a session handler about a renewal.
public enum RenewalAnswer: Equatable, Sendable {
    /// The daemon renews with the credential that it has.
    case renew
    /// The daemon renews with this token from the app's backend.
    case renewWithAuthToken(SecretText)
    /// The daemon registers again with this legacy signature.
    case renewWithSignature(SecretText, sequence: UInt64)
    /// The handler has no credential now. The daemon asks again in ten minutes at the earliest.
    case unableToRetrieveAuthToken
}

extension RenewalAnswer: WireValue {
    package init(reading value: JSONValue) throws(WireMismatch) {
        let members = try Members(value, at: "result")
        let word = try members.required("action", .text)
        guard let action = Action.allCases.first(where: { $0.rawValue == word }) else {
            throw members.mismatch("action", "must be one of \(Action.words.joined(separator: ", "))")
        }
        self = try action.fields.read(among: members)
    }

    package func write(to writer: inout JSONWriter) {
        writer.object { writer in
            writer.member("action", action.rawValue)
            action.fields.write(self, to: &writer)
        }
    }

    package static let schema = Schema.object(
        [Member("action", .word(Action.words), "what the daemon shall do")]
            + Action.allCases.flatMap(\.fields.members).map { member in
                Member(member.name, member.schema, member.summary, optional: true)
            }
    )

    /// The word that determines the other members.
    package enum Action: String, CaseIterable {
        case renew
        case renewWithAuthToken
        case renewWithSignature
        case unableToRetrieveAuthToken

        static let words = allCases.map(\.rawValue)

        /// The other members.
        var fields: Fields<RenewalAnswer> {
            switch self {
            case .renew:
                Fields { .renew }
            case .renewWithAuthToken:
                Fields(
                    of: RenewalAnswer.renewWithAuthToken,
                    Field("authToken", .secret, "renewWithAuthToken: the token")
                ) {
                    if case .renewWithAuthToken(let token) = $0 { token } else { nil }
                }
            case .renewWithSignature:
                Fields(
                    of: RenewalAnswer.renewWithSignature,
                    Field("signature", .secret, "renewWithSignature: the signature"),
                    Field("sequence", .decimal, "renewWithSignature: the number that was signed, in decimal")
                ) {
                    if case .renewWithSignature(let signature, let sequence) = $0 { (signature, sequence) } else { nil }
                }
            case .unableToRetrieveAuthToken:
                Fields { .unableToRetrieveAuthToken }
            }
        }
    }

    package var action: Action {
        switch self {
        case .renew: .renew
        case .renewWithAuthToken: .renewWithAuthToken
        case .renewWithSignature: .renewWithSignature
        case .unableToRetrieveAuthToken: .unableToRetrieveAuthToken
        }
    }
}
