/// Makes the calling connection a session handler.
package enum HandlerRegister: MethodDefinition {
    package typealias Params = NoParams

    /// That it is one now.
    package struct Answer: WireObject, Hashable {
        package init() {}

        package static let fields = Fields(
            at: "result",
            { (_: Bool) in Answer() },
            Field("registered", { _ in true }, .yes, "always true")
        )
    }

    package static let name: StaticString = "handler.register"
    package static let capability: Capability? = .handle
    package static let summary =
        "Makes this connection a session handler, which is asked with session.willRenewAccessToken until it closes"
}
