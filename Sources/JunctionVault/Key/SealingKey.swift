import Crypto
import FoundationEssentials
package import JunctionSecret
import JunctionText

/// The key that seals the record, and its id in the clear header.
package struct SealingKey: Sendable {
    /// Identifies the key without revealing it.
    package let id: String
    /// Where the key comes from: `host+tpm2`, `tpm2`, `host` or `file`.
    package let origin: String
    private let sealing: SymmetricKey

    /// The length of a key in bytes.
    package static let length = 32

    /// - Parameter secret: exactly `length` random bytes.
    package init(_ secret: JunctionSecret.SharedSecret, origin: String) {
        precondition(secret.count == Self.length, "A sealing key has \(Self.length) bytes")
        self.origin = origin
        // Two keys are derived from one secret, so that neither reveals anything about the other.
        let master = secret.withUnsafeBytes { SymmetricKey(data: $0) }
        sealing = Self.derive("junctiond seal", Self.length, from: master)
        id = Self.derive("junctiond key id", 8, from: master).withUnsafeBytes { Hexadecimal.text($0) }
    }

    private static func derive(_ purpose: String, _ length: Int, from master: SymmetricKey) -> SymmetricKey {
        HKDF<SHA256>.deriveKey(inputKeyMaterial: master, info: Data(purpose.utf8), outputByteCount: length)
    }

    /// The bytes that a seal adds: nonce and tag.
    static let overhead = 12 + 16

    /// Seals `secret` under this key and binds `clear` to it.
    func seal(_ secret: UnsafeRawBufferPointer, binding clear: [UInt8]) -> Data {
        do {
            return try ChaChaPoly.seal(secret, using: sealing, authenticating: clear).combined
        } catch {
            preconditionFailure("ChaCha20-Poly1305 seals any bytes under any key of 32 bytes: \(error)")
        }
    }

    /// Passes the opened bytes to `body` and wipes them afterwards. Returns nil if they or `clear` were altered.
    func open<Result>(
        _ sealed: ArraySlice<UInt8>,
        bound clear: ArraySlice<UInt8>,
        _ body: (UnsafeRawBufferPointer) -> Result?
    ) -> Result? {
        guard
            let box = try? ChaChaPoly.SealedBox(combined: sealed),
            var opened = try? ChaChaPoly.open(box, using: sealing, authenticating: clear)
        else { return nil }
        defer { opened.withUnsafeMutableBytes { wipe($0) } }
        return opened.withUnsafeBytes { body($0) }
    }
}
