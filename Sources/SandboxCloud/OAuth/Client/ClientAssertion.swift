import Crypto
import FoundationEssentials

/// A verified JWT that authenticates a client by its key (RFC 7523 §3).
struct ClientAssertion: Sendable {
    let id: String
    /// Seconds since 1970.
    let expiresAt: Int64

    /// The allowed clock difference and the longest lifetime of an assertion, in seconds.
    private static let leeway: Int64 = 60
    private static let longestLife: Int64 = 600

    init(
        _ text: String,
        of client: String,
        key pem: String,
        audiences: Set<String>,
        now: Int64
    ) throws(TokenRefusal) {
        guard let jwt = JWT(text), jwt.header["alg"] == "ES256",
            let key = try? P256.Signing.PublicKey(pemRepresentation: pem),
            let signature = try? P256.Signing.ECDSASignature(rawRepresentation: jwt.signature),
            key.isValidSignature(signature, for: jwt.signed)
        else { throw Self.refusal("is not signed by the client's key with ES256") }
        let claims = jwt.claims
        guard claims["iss"]?.string == client, claims["sub"]?.string == client else {
            throw Self.refusal("is not about the client: iss and sub")
        }
        guard let audience = claims["aud"]?.string, audiences.contains(audience) else {
            throw Self.refusal("is made out to somebody else: aud is none of \(audiences.sorted())")
        }
        guard let id = claims["jti"]?.string, !id.isEmpty else { throw Self.refusal("has no jti") }
        guard case .integer(let issuedAt) = claims["iat"], case .integer(let expiresAt) = claims["exp"] else {
            throw Self.refusal("does not say when it was made and when it ends: iat and exp")
        }
        guard issuedAt <= now + Self.leeway, now < expiresAt, expiresAt - issuedAt <= Self.longestLife else {
            throw Self.refusal("is over, of tomorrow, or good for more than \(Self.longestLife) seconds")
        }
        self.id = id
        self.expiresAt = expiresAt
    }

    /// Returns the client that an unverified assertion names.
    static func client(of text: String) -> String? { JWT(text)?.claims["sub"]?.string }

    private static func refusal(_ complaint: String) -> TokenRefusal {
        TokenError.invalidClient.because("the assertion \(complaint)")
    }
}
