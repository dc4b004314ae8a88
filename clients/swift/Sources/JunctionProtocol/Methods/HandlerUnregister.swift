/// Ends the handler duty of the calling connection.
package enum HandlerUnregister: MethodDefinition {
    package typealias Params = NoParams
    package typealias Answer = NoAnswer

    package static let name: StaticString = "handler.unregister"
    package static let capability: Capability? = .handle
    package static let summary = "Ends the handler duty of this connection"
}
