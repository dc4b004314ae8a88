/// Makes the calling connection a session handler.
package enum HandlerRegister: MethodDefinition {
    package typealias Params = NoParams

    /// The answer: the connection is a handler now.
    package struct Answer: WireObject, Hashable {
        /// `automatic` if `renewal.mode` in the daemon's configuration has this value and the provider does not need an
        /// app in every mode; otherwise `nil`. Then the daemon asks handlers for no renewal, only for a sign-in that
        /// needs a handler.
        package var mode: String?

        package init(mode: String? = nil) {
            self.mode = mode
        }

        package static let fields = Fields(
            at: "result",
            { (_: Bool, mode: String?) in Answer(mode: mode) },
            Field("registered", { _ in true }, .yes, "always true"),
            Field(
                "mode",
                \.mode,
                ifPresent: .string,
                "automatic, if the daemon asks handlers for no renewal: then only for a sign-in that needs one"
            )
        )
    }

    package static let name: StaticString = "handler.register"
    package static let capability: Capability? = .handle
    package static let summary =
        "Makes this connection a session handler, which is asked with session.willRenewAccessToken until it closes"
}
