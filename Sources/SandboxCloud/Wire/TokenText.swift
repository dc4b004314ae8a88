import Crypto
import FoundationEssentials
import JunctionText

/// Makes opaque token texts, and the fingerprints that the cloud keeps instead of them.
enum TokenText {
    /// A text nobody can guess, with a prefix that says in a log what it is.
    static func fresh(_ prefix: String) -> String {
        let key = SymmetricKey(size: .bits256)
        return prefix + key.withUnsafeBytes { Hexadecimal.text($0) }
    }

    /// A text that only who knows both the other text and the label can compute.
    static func derived(_ prefix: String, from text: String, with label: String) -> String {
        let key = SymmetricKey(data: Data(text.utf8))
        return prefix + Hexadecimal.text(HMAC<SHA256>.authenticationCode(for: Data(label.utf8), using: key))
    }

    /// The SHA-256 of a text: enough to recognise a token, not enough to use it.
    static func fingerprint(_ text: String) -> String {
        Hexadecimal.text(SHA256.hash(data: Data(text.utf8)))
    }

    static func identifier() -> String {
        UUID().uuidString.lowercased()
    }
}
