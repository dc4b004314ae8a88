import Crypto
import FoundationEssentials

/// Makes opaque token texts, and the fingerprints that the cloud keeps instead of them.
enum TokenText {
    /// A text nobody can guess, with a prefix that says in a log what it is.
    static func fresh(_ prefix: String) -> String {
        let key = SymmetricKey(size: .bits256)
        return prefix + key.withUnsafeBytes { hexadecimal($0) }
    }

    /// The SHA-256 of a text: enough to recognise a token, not enough to use it.
    static func fingerprint(_ text: String) -> String {
        hexadecimal(SHA256.hash(data: Data(text.utf8)))
    }

    static func identifier() -> String {
        UUID().uuidString.lowercased()
    }

    static func hexadecimal(_ bytes: some Sequence<UInt8>) -> String {
        let digits = Array("0123456789abcdef")
        return String(bytes.flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] })
    }
}
