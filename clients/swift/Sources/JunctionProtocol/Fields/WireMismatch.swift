/// A value from the wire that is not what its place takes.
package struct WireMismatch: Error, Hashable, Sendable, CustomStringConvertible {
    /// The member, from the outside in: `query.start`.
    package var member: String
    /// What it has to be, to follow its name: `must be a string`.
    package var expectation: String

    package init(_ member: String, _ expectation: String) {
        self.member = member
        self.expectation = expectation
    }

    package var description: String { "'\(member)' \(expectation)" }
}
