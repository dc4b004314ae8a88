/// The app's own name for a user: a text of bounded length that is compared byte by byte.
package struct ExternalUserId: Hashable, Sendable {
    package let text: String

    /// The largest length in bytes of UTF-8. The name is stored with the session, and a long name must not make a
    /// record too long to write. The values that providers grant have limits of their own.
    package static let longest = 1_024

    package init?(_ text: String) {
        guard (1...Self.longest).contains(text.utf8.count) else { return nil }
        self.text = text
    }

    /// Compares bytes. To `String`, `é` is the same in one code point and in two, but these may be two users.
    package static func == (one: ExternalUserId, other: ExternalUserId) -> Bool {
        one.text.hasSameBytes(as: other.text)
    }

    package func hash(into hasher: inout Hasher) {
        for byte in text.utf8 { hasher.combine(byte) }
    }
}
