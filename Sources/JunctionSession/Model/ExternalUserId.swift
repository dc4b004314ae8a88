/// The user as the app names them: a text of the app's own, compared byte by byte, and short enough to be kept.
package struct ExternalUserId: Hashable, Sendable {
    package let text: String

    /// In bytes of UTF-8. It is stored with the session, and no rotation may be lost because a record became too long for
    /// what somebody once named a user; what providers grant has limits of its own.
    package static let longest = 1_024

    /// Nothing when the text is empty or too long.
    package init?(_ text: String) {
        guard (1...Self.longest).contains(text.utf8.count) else { return nil }
        self.text = text
    }

    /// Byte by byte: to a string, `é` is the same in one character and in two, and these may be two people.
    package static func == (one: ExternalUserId, other: ExternalUserId) -> Bool {
        one.text.hasSameBytes(as: other.text)
    }

    package func hash(into hasher: inout Hasher) {
        for byte in text.utf8 { hasher.combine(byte) }
    }
}
