import JunctionProtocol
import JunctionSecret
import JunctionText

/// What shows that whoever redeems a code is who asked for it (RFC 7636, method S256).
struct ProofKey {
    /// What the daemon tells the provider in the end.
    let verifier: SecretText

    /// A new one.
    init() {
        verifier = .random()
    }

    init(_ verifier: SecretText) {
        self.verifier = verifier
    }

    /// What the provider is told at first, from which nobody learns the verifier.
    var challenge: String {
        Base64.encodeURLSafe(verifier.withUnsafeBytes { SHA256.hash($0) })
    }
}

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
