/// Base64 of RFC 4648 §4: the standard alphabet, padded.
enum Base64 {
    private static let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)

    /// Writes bytes as text.
    static func encode(_ bytes: [UInt8]) -> String {
        let count = (bytes.count + 2) / 3 * 4
        return String(unsafeUninitializedCapacity: count) { room in
            var written = 0
            for start in stride(from: 0, to: bytes.count, by: 3) {
                let group = (0..<3).reduce(0) { $0 << 8 | (start + $1 < bytes.count ? Int(bytes[start + $1]) : 0) }
                for position in 0..<4 {
                    let isPadding = start + position > bytes.count
                    room[written] = isPadding ? UInt8(ascii: "=") : alphabet[group >> (18 - 6 * position) & 63]
                    written += 1
                }
            }
            return written
        }
    }

    /// Reads text; nothing when it is not exactly what `encode` would have written.
    static func decode(_ text: String) -> [UInt8]? {
        let characters = Array(text.utf8)
        guard characters.count.isMultiple(of: 4) else { return nil }
        let padding = characters.suffix(2).count { $0 == UInt8(ascii: "=") }
        var bytes: [UInt8] = []
        bytes.reserveCapacity(characters.count / 4 * 3)
        for start in stride(from: 0, to: characters.count, by: 4) {
            var group = 0
            for position in start..<start + 4 {
                let isPadding = position >= characters.count - padding
                guard let sextet = isPadding ? 0 : sextet(characters[position]) else { return nil }
                group = group << 6 | sextet
            }
            bytes += [UInt8(group >> 16), UInt8(group >> 8 & 0xFF), UInt8(group & 0xFF)]
        }
        // Bits that nothing stands for must be zero; the padded characters count as zero, so these bytes do too.
        guard bytes.suffix(padding).allSatisfy({ $0 == 0 }) else { return nil }
        bytes.removeLast(padding)
        return bytes
    }

    private static func sextet(_ character: UInt8) -> Int? {
        switch character {
        case UInt8(ascii: "A")...UInt8(ascii: "Z"): Int(character) - 65
        case UInt8(ascii: "a")...UInt8(ascii: "z"): Int(character) - 71
        case UInt8(ascii: "0")...UInt8(ascii: "9"): Int(character) + 4
        case UInt8(ascii: "+"): 62
        case UInt8(ascii: "/"): 63
        default: nil
        }
    }
}
