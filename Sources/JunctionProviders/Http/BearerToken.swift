import JunctionSecret

/// What an access token has to be like, whichever vendor grants it.
enum BearerToken {
    /// A token that dies at once could never be used; one that outlives a year was not meant so.
    static let lives = Duration.seconds(1)...Duration.seconds(366 * 86_400)
    /// It has to fit into a header, together with the others.
    static let longest = 1 << 14

    /// Whether the token can stand in a header: printable, without spaces, not too long.
    static func fitsHeader(_ token: SharedSecret) -> Bool {
        (1...longest).contains(token.count)
            && token.withUnsafeBytes { $0.allSatisfy { (0x21...0x7E).contains($0) } }
    }

    /// The header that shows it.
    static func header(_ token: SharedSecret) -> (name: String, value: SharedSecret) {
        ("authorization", token.after("Bearer "))
    }
}

extension SharedSecret {
    /// The same with a word in front of it.
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
