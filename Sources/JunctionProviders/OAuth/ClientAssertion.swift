import JunctionJSON
import JunctionSecret
import JunctionText

/// A client assertion (RFC 7523 §3), valid for one request and for one minute on the server's clock.
struct ClientAssertion: Sendable {
    let clientId: String
    let audience: String
    /// The present time in seconds since 1970.
    let now: Int64
    /// A random id, different for each assertion.
    private let id = (0..<16).map { _ in UInt8.random(in: .min ... .max) }

    static let life: Int64 = 60
    /// Some servers refuse an assertion that is even one second in the future.
    static let backdating: Int64 = 10

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
