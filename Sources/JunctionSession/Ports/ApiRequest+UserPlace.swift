extension ApiRequest {
    /// What stands for the signed-in user's id, as a whole segment of a path: two spellings, for `curl` and shells have a
    /// use of their own for braces.
    package static let userPlaces = [":userId", "{userId}"]

    /// The same request with the user's id wherever its path has a place for it.
    ///
    /// The id goes in escaped, so that it stays one segment whatever is in it; whether the path is the user's own is
    /// judged afterwards, like that of any other.
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
        // A client may escape what it likes, and each byte takes three at most then.
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
