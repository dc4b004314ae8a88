/// The fields of an `application/x-www-form-urlencoded` body, in the order they came.
struct Form: Sendable {
    let fields: [(name: String, value: String)]

    static let contentType = "application/x-www-form-urlencoded"

    init(_ body: String) {
        fields = body.split(separator: "&").map { pair in
            let halves = pair.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            return (Self.plain(halves[0]), halves.count == 2 ? Self.plain(halves[1]) : "")
        }
    }

    subscript(name: String) -> String? {
        fields.first { $0.name == name }?.value
    }

    /// The text without its escapes; an escape that is none stays as it is.
    private static func plain(_ text: Substring) -> String {
        var bytes: [UInt8] = []
        var rest = text.utf8[...]
        while let byte = rest.popFirst() {
            if byte == UInt8(ascii: "%"), let escaped = UInt8(String(Substring(rest.prefix(2))), radix: 16) {
                bytes.append(escaped)
                rest = rest.dropFirst(2)
            } else {
                bytes.append(byte == UInt8(ascii: "+") ? UInt8(ascii: " ") : byte)
            }
        }
        return String(decoding: bytes, as: UTF8.self)
    }
}
