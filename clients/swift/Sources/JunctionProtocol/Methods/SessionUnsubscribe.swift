/// Ends the notifications of this connection.
package enum SessionUnsubscribe: MethodDefinition {
    package typealias Params = NoParams
    package typealias Answer = NoAnswer

    package static let name: StaticString = "session.unsubscribe"
    package static let capability: Capability? = .status
    package static let summary = "Ends the session.changed notifications of this connection"
}
