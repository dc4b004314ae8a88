import JunctionSecret

/// The requirements for an access token of any provider.
enum BearerToken {
    /// A token that expires at once cannot be used. A life of more than a year is assumed to be a mistake.
    static let lives = Duration.seconds(1)...Duration.seconds(366 * 86_400)
    /// The token must fit into the request headers, together with the others.
    static let longest = 1 << 14

    /// Returns whether the token can stand in a header: printable ASCII, without spaces, not too long.
    static func fitsHeader(_ token: SharedSecret) -> Bool {
        (1...longest).contains(token.count)
            && token.withUnsafeBytes { $0.allSatisfy { (0x21...0x7E).contains($0) } }
    }

    /// Returns the `Authorization` header with the token.
    static func header(_ token: SharedSecret) -> (name: String, value: SharedSecret) {
        ("authorization", token.after("Bearer "))
    }
}

extension SharedSecret {
    /// Returns the secret with `word` before it.
    func after(_ word: String) -> SharedSecret {
        SharedSecret(
            Secret(capacity: word.utf8.count + count) { room in
                room.copyBytes(from: word.utf8)
                withUnsafeBytes {
                    UnsafeMutableRawBufferPointer(rebasing: room[word.utf8.count...]).copyMemory(from: $0)
                }
                return room.count
            }
        )
    }
}
