import FoundationEssentials
import JunctionSecret
import JunctionText

import enum Crypto.P256

/// The private key that signs the client's assertions: P-256, for ES256.
struct ClientKey: Sendable {
    private let key: P256.Signing.PrivateKey

    /// Parses PEM in either usual form, PKCS#8 or SEC 1.
    init(pem: SharedSecret) throws(ProviderConfigurationFault) {
        guard let der = Self.der(pem) else {
            throw ProviderConfigurationFault("not a private key in PEM form (-----BEGIN PRIVATE KEY-----)")
        }
        do {
            key = try der.withUnsafeBytes { try P256.Signing.PrivateKey(derRepresentation: $0) }
        } catch {
            throw ProviderConfigurationFault(
                "the key is not one of P-256 (openssl genpkey -algorithm EC -pkeyopt "
                    + "ec_paramgen_curve:P-256), or it is encrypted"
            )
        }
    }

    /// Returns the signature in the form of a JWT (RFC 7518 §3.4).
    func signature(of text: String) -> String {
        do {
            return Base64.encodeURLSafe(try key.signature(for: Array(text.utf8)).rawRepresentation)
        } catch {
            preconditionFailure("A P-256 key signs any bytes: \(error)")
        }
    }

    /// Returns the content of the private key block. Other blocks may precede it.
    private static func der(_ pem: SharedSecret) -> SharedSecret? {
        pem.withUnsafeBytes { bytes -> SharedSecret? in
            let lines = bytes.split { $0 == 0x0A || $0 == 0x0D }
            guard let begin = lines.firstIndex(where: { isMark($0, "-----BEGIN ") }),
                let end = lines[begin...].firstIndex(where: { isMark($0, "-----END ") })
            else { return nil }
            return SharedSecret(base64: lines[(begin + 1)..<end].joined())
        }
    }

    private static func isMark(_ line: Slice<UnsafeRawBufferPointer>, _ word: String) -> Bool {
        let end = "PRIVATE KEY-----"
        return line.starts(with: word.utf8) && line.suffix(end.utf8.count).elementsEqual(end.utf8)
    }
}
