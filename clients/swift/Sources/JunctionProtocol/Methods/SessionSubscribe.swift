/// Tells the present state, and from then on every new one with `session.changed`.
package enum SessionSubscribe: MethodDefinition {
    package typealias Params = NoParams
    package typealias Answer = Snapshot

    package static let name: StaticString = "session.subscribe"
    package static let capability: Capability? = .status
    package static let summary = "Tells the present state, and every new one in a session.changed notification"
}

/// The notification of a new state; a watcher that reads slowly gets the newest only.
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
