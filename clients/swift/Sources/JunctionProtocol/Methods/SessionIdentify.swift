/// Makes the user that the app knows by this id the signed-in one, or signs out.
package enum SessionIdentify: MethodDefinition {
    /// Whom the app wants signed in.
    package struct Params: WireParams, WireObject, Hashable {
        /// `nil` is nobody.
        package var externalUserId: String?

        package init(externalUserId: String?) {
            self.externalUserId = externalUserId
        }

        package static let fields = Fields(
            Params.init(externalUserId:),
            Field(
                "externalUserId",
                \.externalUserId,
                orNobody: .name,
                "the user as the app names them, in at most 1,024 bytes; null signs out"
            )
        )
    }

    package typealias Answer = IdentifyResult

    package static let name: StaticString = "session.identify"
    package static let capability: Capability? = .manage
    package static let summary =
        "Makes this user the signed-in one; asks for a credential with session.authenticate if one is needed"
    package static let errors: [ErrorCode] = SessionSignIn.errors
    // Nothing is done for somebody before a credential was asked for, while nobody is a sign-out that is done at once. Its
    // repetition could come after a sign-in.
    package static func isRepeatable(_ params: Params) -> Bool { params.externalUserId != nil }
}

/// What became of an `identify`.
public struct IdentifyResult: Hashable, Sendable {
    /// What was done.
    public var outcome: Outcome
    /// The state after it.
    public var snapshot: Snapshot

    /// Puts a result together.
    public init(outcome: Outcome, snapshot: Snapshot) {
        self.outcome = outcome
        self.snapshot = snapshot
    }

    /// What was done, in one word.
    public struct Outcome: WireWord {
        /// The word on the wire.
        public var rawValue: String
        /// Takes any word.
        public init(rawValue: String) { self.rawValue = rawValue }

        /// That user was signed in already.
        public static let unchanged = Outcome(rawValue: "unchanged")
        /// Nobody was signed in; now that user is.
        public static let signedIn = Outcome(rawValue: "signedIn")
        /// Another user was signed in; now that one is.
        public static let switched = Outcome(rawValue: "switched")
        /// Nobody is signed in now.
        public static let signedOut = Outcome(rawValue: "signedOut")

        static let known: [Outcome] = [.unchanged, .signedIn, .switched, .signedOut]
    }
}

extension IdentifyResult: WireObject {
    package static let fields = Fields(
        at: "result",
        IdentifyResult.init(outcome:snapshot:),
        Field("outcome", \.outcome, .word(Outcome.known), "what was done"),
        Field("snapshot", \.snapshot, .object, "the state after it")
    )
}
