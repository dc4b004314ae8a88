import JunctionJSON
import JunctionSecret
import JunctionText

/// A client's word that it is the client (RFC 7523 §3): good for one request, and for a minute by the server's clock.
struct ClientAssertion: Sendable {
    let clientId: String
    let audience: String
    /// Now, in seconds since 1970.
    let now: Int64
    /// No two are the same.
    private let id = (0..<16).map { _ in UInt8.random(in: .min ... .max) }

    static let life: Int64 = 60
    /// Servers refuse what is from the future, be it by a second.
    static let backdating: Int64 = 10

    init(clientId: String, audience: String, now: Int64) {
        self.clientId = clientId
        self.audience = audience
        self.now = now
    }

    func signed(by key: ClientKey) -> SharedSecret {
        var claims = JSONWriter()
        claims.object { claims in
            claims.member("iss", clientId)
            claims.member("sub", clientId)
            claims.member("aud", audience)
            claims.member("jti", Hexadecimal.text(id))
            claims.member("iat", now - Self.backdating)
            claims.member("exp", now + Self.life)
        }
        let header = Base64.encodeURLSafe(Array(#"{"alg":"ES256","typ":"JWT"}"#.utf8))
        let payload = Base64.encodeURLSafe(claims.take())
        let text = "\(header).\(payload)"
        return SharedSecret(text: "\(text).\(key.signature(of: text))")
    }
}
