import JunctionSecret
import JunctionText

/// The client id and secret in HTTP's Basic scheme. Each is form-encoded first (RFC 6749 §2.3.1), because one of them
/// may contain a colon.
enum BasicCredentials {
    static func of(_ id: String, _ secret: SharedSecret) -> SharedSecret {
        let pair = SharedSecret(joining: [.text("\(PercentEncoding.encode(id)):"), .secret(secret.percentEncoded)])
        let encoded = Secret(capacity: Base64.characters(for: pair.count)) { room in
            pair.withUnsafeBytes { Base64.encode($0, into: room) }
        }
        return SharedSecret(joining: [.text("Basic "), .secret(SharedSecret(encoded))])
    }
}
