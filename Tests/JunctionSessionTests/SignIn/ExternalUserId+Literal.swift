import JunctionSession

/// Lets tests write an id as a string literal.
extension ExternalUserId: ExpressibleByStringLiteral {
    /// Creates the id, which must be valid.
    public init(stringLiteral text: String) {
        guard let id = ExternalUserId(text) else { preconditionFailure("No id of a user: \(text)") }
        self = id
    }
}
