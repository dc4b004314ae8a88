import JunctionSecret
import JunctionText

/// The client id and secret for HTTP's Basic scheme. Each is form-encoded first (RFC 6749 §2.3.1), because one of them
/// may contain a colon.
enum BasicCredentials {
    static func of(_ id: String, _ secret: SharedSecret) -> SharedSecret {
        let pair = Secret(capacity: 3 * (id.utf8.count + secret.count) + 1) { room in
            var id = id
            var end = id.withUTF8 { PercentEncoding.encode(UnsafeRawBufferPointer($0), into: room) }
            room[end] = UInt8(ascii: ":")
            end += 1
            let rest = UnsafeMutableRawBufferPointer(rebasing: room[end...])
            return end + secret.withUnsafeBytes { PercentEncoding.encode($0, into: rest) }
        }
        return SharedSecret(
            Secret(capacity: Base64.characters(for: pair.count)) { room in
                pair.withUnsafeBytes { Base64.encode($0, into: room) }
            }
        )
    }
}
