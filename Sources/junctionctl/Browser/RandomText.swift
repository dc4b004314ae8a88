import JunctionProtocol
import JunctionSecret

extension SecretText {
    /// Returns 43 random characters with six bits each. All of them may occur in a URL.
    static func random() -> SecretText {
        let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_".utf8)
        var source = SystemRandomNumberGenerator()
        let secret = Secret(capacity: 43) { room in
            for index in room.indices { room[index] = alphabet[Int(source.next(upperBound: UInt8(64)))] }
            return room.count
        }
        return SecretText(SharedSecret(secret))
    }
}
