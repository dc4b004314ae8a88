import JunctionSession

/// In a test an id is written down, and is one.
extension ExternalUserId: ExpressibleByStringLiteral {
    /// Takes what a test has written down.
    public init(stringLiteral text: String) {
        guard let id = ExternalUserId(text) else { preconditionFailure("No id of a user: \(text)") }
        self = id
    }
}
