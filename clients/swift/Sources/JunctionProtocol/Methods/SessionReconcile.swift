/// Compares the signed-in user with the one that the app expects, and changes nothing.
package enum SessionReconcile: MethodDefinition {
    /// The user that the app expects.
    package struct Params: WireParams, WireObject, Hashable {
        /// The user's id; `nil` expects no user.
        package var userId: String?

        package init(userId: String?) {
            self.userId = userId
        }

        package static let fields = Fields(
            Params.init(userId:),
            Field("userId", \.userId, orNobody: .text, "the user that should be signed in; null for nobody")
        )
    }

    package typealias Answer = ReconcileResult

    package static let name: StaticString = "session.reconcile"
    package static let capability: Capability? = .status
    package static let onlyAnswers = true
    package static let summary =
        "Says what the app has to do to have this user signed in, and changes nothing; a terminated session counts as nobody"
}

/// What the app has to do so that the expected user is signed in.
public struct ReconcileResult: Hashable, Sendable {
    /// What to do.
    public var action: Action
    /// The present state.
    public var snapshot: Snapshot

    /// Makes a result.
    public init(action: Action, snapshot: Snapshot) {
        self.action = action
        self.snapshot = snapshot
    }

    /// The next step.
    public struct Action: WireWord {
        /// The word on the wire.
        public var rawValue: String
        /// Makes an action from any word.
        public init(rawValue: String) { self.rawValue = rawValue }

        /// Nothing: the session is the expected one.
        public static let none = Action(rawValue: "none")
        /// Sign the user in.
        public static let signIn = Action(rawValue: "signIn")
        /// Sign the user out.
        public static let signOut = Action(rawValue: "signOut")
        /// Sign the present user out and the expected one in.
        public static let `switch` = Action(rawValue: "switch")
        /// Sign the same user in again with a new credential: reauthentication is pending.
        public static let reauthenticate = Action(rawValue: "reauthenticate")
        /// Sign the same user in with a Sign-In Token: the session uses an API key.
        public static let migrate = Action(rawValue: "migrate")

        package static let known: [Action] = [.none, .signIn, .signOut, .switch, .reauthenticate, .migrate]
    }
}

extension ReconcileResult: WireObject {
    package static let fields = Fields(
        at: "result",
        ReconcileResult.init(action:snapshot:),
        Field("action", \.action, .word(Action.known), "what to do"),
        Field("snapshot", \.snapshot, .object, "the present state")
    )
}
