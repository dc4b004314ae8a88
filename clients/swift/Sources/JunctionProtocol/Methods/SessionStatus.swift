/// Returns the present state.
package enum SessionStatus: MethodDefinition {
    package typealias Params = NoParams
    package typealias Answer = Snapshot

    package static let name: StaticString = "session.status"
    package static let capability: Capability? = .status
    package static let onlyAnswers = true
    package static let summary = "Tells the present state of the session"
}
