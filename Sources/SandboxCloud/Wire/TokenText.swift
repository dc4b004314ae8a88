import Crypto
import FoundationEssentials
import JunctionText

/// Creates opaque tokens, and the fingerprints that the state stores instead of them.
enum TokenText {
    /// Returns a random text. The prefix identifies its kind in a log.
    static func fresh(_ prefix: String) -> String {
        let key = SymmetricKey(size: .bits256)
        return prefix + key.withUnsafeBytes { Hexadecimal.text($0) }
    }

    /// Returns a text that can be computed only from both the other text and the label.
    static func derived(_ prefix: String, from text: String, with label: String) -> String {
        let key = SymmetricKey(data: Data(text.utf8))
        return prefix + Hexadecimal.text(HMAC<SHA256>.authenticationCode(for: Data(label.utf8), using: key))
    }

    /// Returns the SHA-256 of a text, which identifies a token but cannot be used as one.
    static func fingerprint(_ text: String) -> String {
        Hexadecimal.text(SHA256.hash(data: Data(text.utf8)))
    }

    static func identifier() -> String {
        UUID().uuidString.lowercased()
    }
}
