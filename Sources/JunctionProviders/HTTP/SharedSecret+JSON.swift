import JunctionJSON
import JunctionSecret
import JunctionText

extension SharedSecret {
    /// Writes a JSON object whose members `write` writes.
    static func jsonObject(_ write: (inout JSONWriter) -> Void) -> SharedSecret {
        var text = JSONWriter(capacity: 1_024)
        text.object(write)
        return text.withUnsafeBytes { SharedSecret(copying: $0) }
    }

    /// Decodes Base64 in either alphabet, with or without padding and line breaks, because its makers differ. `nil` if
    /// the text is not Base64.
    convenience init?(base64 text: some Collection<UInt8>) {
        self.init(capacity: Base64.mostBytes(for: text.count)) { Base64.decode(text, .lenient, into: $0) }
    }

    /// The JSON value of an answer's body. A byte order mark before it is ignored (RFC 8259 §8.1).
    var json: JSONValue? {
        withUnsafeBytes { bytes in
            let mark: [UInt8] = [0xEF, 0xBB, 0xBF]
            return try? JSONValue.parse(.init(rebasing: bytes.starts(with: mark) ? bytes[mark.count...] : bytes[...]))
        }
    }

    /// The member `refresh_token` of a body that is not valid JSON. The server has rotated the token, so the old one may
    /// be of no use any more. `nil` unless the body begins like an object, and there is exactly one such member with a value
    /// in printable ASCII.
    var refreshTokenInInvalidJSON: SharedSecret? {
        withUnsafeBytes { bytes in
            let name = Array(#""refresh_token""#.utf8)
            let isBlank = { (byte: UInt8) in [0x20, 0x09, 0x0A, 0x0D].contains(byte) }
            let isMark = { (byte: UInt8) in [0xEF, 0xBB, 0xBF].contains(byte) }
            guard bytes.drop(while: isMark).drop(while: isBlank).first == UInt8(ascii: "{") else { return nil }
            var found: [Range<Int>] = []
            for start in bytes.indices where bytes[start...].starts(with: name) {
                let colon = bytes[(start + name.count)...].drop(while: isBlank)
                let quote = colon.dropFirst().drop(while: isBlank)
                let value = quote.dropFirst().prefix { $0.isVisibleASCII && $0 != 0x22 && $0 != 0x5C }
                guard colon.first == UInt8(ascii: ":"), quote.first == UInt8(ascii: "\""), !value.isEmpty,
                    value.endIndex < bytes.endIndex, bytes[value.endIndex] == UInt8(ascii: "\"")
                else { continue }
                found.append(value.startIndex..<value.endIndex)
            }
            guard found.count == 1 else { return nil }
            return SharedSecret(copying: .init(rebasing: bytes[found[0]]))
        }
    }
}
