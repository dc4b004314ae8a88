/// Makes the user whom the app knows by this id the signed-in one, or signs out.
package enum SessionIdentify: MethodDefinition {
    /// The user whom the app wants signed in.
    package struct Params: WireParams, WireObject, Hashable {
        /// The app's id of the user; `nil` signs out.
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
    // With a user id, nothing changes before the daemon has asked for a credential. Without one, the sign-out takes
    // effect at once. Its repetition could come after another sign-in.
    package static func isRepeatable(_ params: Params) -> Bool { params.externalUserId != nil }
}

/// The result of `identify`.
public struct IdentifyResult: Hashable, Sendable {
    /// The change that was made.
    public var outcome: Outcome
    /// The state after the change.
    public var snapshot: Snapshot

    /// Makes a result.
    public init(outcome: Outcome, snapshot: Snapshot) {
        self.outcome = outcome
        self.snapshot = snapshot
    }

    /// The change.
    public struct Outcome: WireWord {
        /// The word on the wire.
        public var rawValue: String
        /// Makes an outcome from any word.
        public init(rawValue: String) { self.rawValue = rawValue }

        /// That user was already signed in.
        public static let unchanged = Outcome(rawValue: "unchanged")
        /// No user was signed in; now that user is.
        public static let signedIn = Outcome(rawValue: "signedIn")
        /// Another user was signed in; now that user is.
        public static let switched = Outcome(rawValue: "switched")
        /// No user is signed in now.
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
