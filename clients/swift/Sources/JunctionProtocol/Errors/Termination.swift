/// Why the provider ended a session.
public struct Termination: Hashable, Sendable {
    /// The provider's code, as a string: `invalid_token`, `400312`, …
    public var code: String
    /// The provider's message.
    public var message: String
    /// When the daemon received this.
    public var at: Timestamp

    /// Makes a termination.
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
