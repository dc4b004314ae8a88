import JunctionJSON
import JunctionSecret
import JunctionText

/// A client's word that it is the client (RFC 7523 §3): good for one request, and for a minute.
struct ClientAssertion: Sendable {
    let clientId: String
    let audience: String
    /// In seconds since 1970.
    let issuedAt: Int64
    /// No two are the same.
    private let id = (0..<16).map { _ in UInt8.random(in: .min ... .max) }

    static let life: Int64 = 60

    init(clientId: String, audience: String, issuedAt: Int64) {
        self.clientId = clientId
        self.audience = audience
        self.issuedAt = issuedAt
    }

    func signed(by key: ClientKey) -> SharedSecret {
        var claims = JSONWriter()
        claims.object { claims in
            claims.member("iss", clientId)
            claims.member("sub", clientId)
            claims.member("aud", audience)
            claims.member("jti", Hexadecimal.text(id))
            claims.member("iat", issuedAt)
            claims.member("exp", issuedAt + Self.life)
        }
        let header = Base64.encodeURLSafe(Array(#"{"alg":"ES256","typ":"JWT"}"#.utf8))
        let payload = Base64.encodeURLSafe(claims.take())
        let text = "\(header).\(payload)"
        return SharedSecret(text: "\(text).\(key.signature(of: text))")
    }
}
