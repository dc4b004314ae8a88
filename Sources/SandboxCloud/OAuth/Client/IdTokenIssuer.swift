import Crypto
import CryptoExtras
import FoundationEssentials
import JunctionText

/// Signs id_tokens with published keys, which only tests may trust.
struct IdTokenIssuer: Sendable {
    enum Algorithm: String, Codable, Sendable {
        case es256 = "ES256"
        case rs256 = "RS256"
    }

    private let ellipticKey: P256.Signing.PrivateKey
    private let rsaKey: _RSA.Signing.PrivateKey

    /// Loads fixed keys, so that an id_token from before a restart is still valid after it.
    init() throws {
        ellipticKey = try P256.Signing.PrivateKey(
            rawRepresentation: Data(SHA256.hash(data: Data("junction-sandbox id_token".utf8)))
        )
        rsaKey = try _RSA.Signing.PrivateKey(pemRepresentation: TestSigningKey.pem)
    }

    /// Returns the claims as a signed JWT (RFC 7515 §3.1).
    func token(_ claims: [String: JSONValue], algorithm: Algorithm) throws -> String {
        let name = algorithm.rawValue
        return try JWT.text(["alg": .string(name), "typ": "JWT", "kid": .string(name.lowercased())], claims) { text in
            switch algorithm {
            case .es256: try ellipticKey.signature(for: text).rawRepresentation
            // RS256 is PKCS #1 v1.5 by definition. The name `insecure` is the library's.
            case .rs256: try rsaKey.signature(for: text, padding: .insecurePKCS1v1_5).rawRepresentation
            }
        }
    }

    /// Returns the public keys (RFC 7517), for clients that verify signatures.
    func keys() throws -> JSONValue {
        let point = ellipticKey.publicKey.rawRepresentation
        let rsa = try rsaKey.publicKey.getKeyPrimitives()
        return [
            "keys": [
                [
                    "kid": "es256", "use": "sig", "alg": "ES256", "kty": "EC", "crv": "P-256",
                    "x": .string(Base64.encodeURLSafe(point.prefix(32))),
                    "y": .string(Base64.encodeURLSafe(point.suffix(32))),
                ],
                [
                    "kid": "rs256", "use": "sig", "alg": "RS256", "kty": "RSA",
                    "n": .string(Base64.encodeURLSafe(rsa.modulus)),
                    "e": .string(Base64.encodeURLSafe(rsa.publicExponent)),
                ],
            ]
        ]
    }
}
