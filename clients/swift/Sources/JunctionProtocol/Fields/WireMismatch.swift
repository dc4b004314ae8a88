/// A value from the wire that does not have the expected form.
package struct WireMismatch: Error, Hashable, Sendable, CustomStringConvertible {
    /// The path of the member, from the outermost object: `query.start`.
    package var member: String
    /// The requirement, as a continuation of the member's name: `must be a string`.
    package var expectation: String

    package init(_ member: String, _ expectation: String) {
        self.member = member
        self.expectation = expectation
    }

    package var description: String { "'\(member)' \(expectation)" }
}
