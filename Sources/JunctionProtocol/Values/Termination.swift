package import JunctionJSON

/// Why the provider ended a session, in its own words.
public struct Termination: Hashable, Sendable {
    /// The provider's code, as a string: `invalid_token`, `400312`, …
    public var code: String
    /// What the provider said about it.
    public var message: String
    /// When the daemon learnt of it.
    public var at: Timestamp

    /// Puts a reason together.
    public init(code: String, message: String, at: Timestamp) {
        self.code = code
        self.message = message
        self.at = at
    }
}

extension Termination: WireValue {
    package init(reading value: JSONValue) throws(WireMismatch) {
        let members = try Members(value, at: "termination")
        code = try members.string("code")
        message = try members.optionalString("message") ?? ""
        at = try members.timestamp("at")
    }

    package func write(to writer: inout JSONWriter) {
        writer.object { writer in
            writer.member("code", code)
            writer.member("message", message)
            writer.member("at", at)
        }
    }

    package static let schema = Schema.object([
        Member("code", .string, "the provider's code: invalid_token, 400312, …"),
        Member("message", .string, "what the provider said about it"),
        Member("at", .timestamp, "when the daemon learnt of it"),
    ])
}
