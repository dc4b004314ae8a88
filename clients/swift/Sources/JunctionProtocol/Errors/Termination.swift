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

extension Termination: WireObject {
    package static let fields = Fields(
        at: "termination",
        Termination.init(code:message:at:),
        Field("code", \.code, .string, "the provider's code: invalid_token, 400312, …"),
        Field("message", \.message, .string, else: "", "what the provider said about it"),
        Field("at", \.at, .timestamp, "when the daemon learnt of it")
    )
}
