/// Returns the present state, and then sends each new one with `session.changed`.
package enum SessionSubscribe: MethodDefinition {
    /// The changes that the caller wants to receive.
    package struct Params: WireParams, WireObject, Hashable {
        /// `nil` is the same as `all`.
        package var changes: Changes?

        package init(changes: Changes? = nil) {
            self.changes = changes
        }

        package static let fields = Fields(
            Params.init(changes:),
            Field(
                "changes",
                \.changes,
                ifPresent: .oneOf,
                "state: notify only when the state differs from the last one sent; all, the default: notify of each change"
            )
        )

        /// Reads `changes` from the query of an HTTP request.
        package init(query text: String) throws(WireMismatch) {
            guard let changes = Changes(rawValue: text) else {
                throw WireMismatch("changes", Form<Changes>.oneOf.expectation)
            }
            self.init(changes: changes)
        }
    }

    /// The changes of the session that a watcher receives.
    package enum Changes: String, Sendable, CaseIterable {
        /// All changes.
        case all
        /// Changes of the member `state`.
        case state
    }

    package typealias Answer = Snapshot

    package static let name: StaticString = "session.subscribe"
    package static let capability: Capability? = .status
    package static let summary = "Tells the present state, and every new one in a session.changed notification"
}

/// The notification of a new state. A watcher that reads slowly receives only the newest one.
package enum SessionChanged: MethodDefinition {
    /// The new state.
    package struct Params: WireParams, WireObject, Hashable {
        package var snapshot: Snapshot

        package init(snapshot: Snapshot) {
            self.snapshot = snapshot
        }

        package static let fields = Fields(
            at: "params",
            Params.init(snapshot:),
            Field("snapshot", \.snapshot, .object, "the new state; its revision is larger than any before")
        )
    }

    package typealias Answer = NoAnswer

    package static let name: StaticString = "session.changed"
    package static let capability: Capability? = .status
    package static let summary = "The state has changed"
}
