extension ApiRequest {
    /// The placeholders for the signed-in user's id. Each is a whole segment of a path. There are two spellings,
    /// because `curl` and shells interpret braces.
    package static let userPlaces = [":userId", "{userId}"]

    /// Returns the request with the user's id in place of each placeholder in its path.
    ///
    /// The id is percent-encoded, so it stays one segment. The provider checks the resulting path like any other.
    func naming(_ userId: String) -> ApiRequest {
        guard
            path.utf8.contains(where: { $0 == UInt8(ascii: ":") || $0 == UInt8(ascii: "{") || $0 == UInt8(ascii: "%") })
        else { return self }
        var named = self
        named.path = path.split(separator: "/", omittingEmptySubsequences: false)
            .map { Self.isUserPlace($0) ? Self.escaped(userId) : String($0) }
            .joined(separator: "/")
        return named
    }

    private static func isUserPlace(_ segment: Substring) -> Bool {
        // A client may percent-encode any byte, and an encoded byte takes three bytes.
        guard segment.utf8.count <= 3 * "{userId}".utf8.count, let plain = unescaped(segment) else { return false }
        return userPlaces.contains { $0.utf8.elementsEqual(plain) }
    }

    private static func unescaped(_ segment: Substring) -> [UInt8]? {
        var plain: [UInt8] = []
        var rest = segment.utf8[...]
        while let byte = rest.popFirst() {
            guard byte == UInt8(ascii: "%") else {
                plain.append(byte)
                continue
            }
            guard rest.count >= 2, let escaped = UInt8(String(Substring(rest.prefix(2))), radix: 16) else { return nil }
            plain.append(escaped)
            rest = rest.dropFirst(2)
        }
        return plain
    }

    private static func escaped(_ id: String) -> String {
        id.utf8.reduce(into: "") { text, byte in
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"),
                UInt8(ascii: "~"):
                text.unicodeScalars.append(Unicode.Scalar(byte))
            default:
                text += byte < 0x10 ? "%0" : "%"
                text += String(byte, radix: 16, uppercase: true)
            }
        }
    }
}
