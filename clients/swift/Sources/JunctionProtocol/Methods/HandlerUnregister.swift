/// Ends the registration of the calling connection as a session handler.
package enum HandlerUnregister: MethodDefinition {
    package typealias Params = NoParams
    package typealias Answer = NoAnswer

    package static let name: StaticString = "handler.unregister"
    package static let capability: Capability? = .handle
    package static let summary = "Ends the registration of this connection as a session handler"
}
