import JunctionProtocol
import JunctionSecret

extension SecretText {
    /// Something that nobody can guess: 43 characters of six random bits each, all of which may stand in a URL.
    static func random() -> SecretText {
        let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_".utf8)
        // The kernel's.
        var source = SystemRandomNumberGenerator()
        let secret = Secret(capacity: 43) { room in
            for index in room.indices { room[index] = alphabet[Int(source.next(upperBound: UInt8(64)))] }
            return room.count
        }
        return SecretText(SharedSecret(secret))
    }
}
