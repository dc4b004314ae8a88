package import JunctionJSON

/// Makes the calling connection a session handler.
package enum HandlerRegister: MethodDefinition {
    package typealias Params = NoParams

    /// That it is one now.
    package struct Answer: WireValue, Hashable {
        package init() {}

        package init(reading value: JSONValue) throws(WireMismatch) {
            let members = try Members(value, at: "result")
            guard members["registered"]?.bool == true else { throw members.mismatch("registered", "must be true") }
        }

        package func write(to writer: inout JSONWriter) {
            writer.object { $0.member("registered", true) }
        }

        package static let schema = Schema.object([Member("registered", .boolean, "always true")])
    }

    package static let name: StaticString = "handler.register"
    package static let capability: Capability? = .handle
    package static let summary =
        "Makes this connection a session handler, which is asked with session.willRenewAccessToken until it closes"
}
