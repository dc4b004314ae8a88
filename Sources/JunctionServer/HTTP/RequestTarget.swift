import JunctionProtocol

/// Path and query of a request.
struct RequestTarget: Equatable {
    /// As it came: whether it is the user's own is judged where the API is known.
    var path: String
    /// Unescaped.
    var query: [(name: String, value: String)] = []

    init(path: String, query: [(name: String, value: String)] = []) {
        (self.path, self.query) = (path, query)
    }

    /// Reads the target of a request in the form that is sent to a server; those for proxies are not.
    init(_ text: String) throws(RefusedRequest) {
        guard text.utf8.first == UInt8(ascii: "/") else {
            throw RefusedRequest(400, .invalidRequest, "The target of a request is a path that begins with '/'")
        }
        guard text.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F && $0 != UInt8(ascii: "#") }) else {
            throw RefusedRequest(
                400,
                .invalidRequest,
                "The target of a request is printable ASCII without blanks and '#'"
            )
        }
        let parts = text.split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
        path = String(parts[0])
        guard parts.count == 2 else { return }
        for pair in parts[1].split(separator: "&") {
            let sides = pair.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            guard let name = Self.unescaped(sides[0]), let value = Self.unescaped(sides.count == 2 ? sides[1] : ""),
                query.count < ApiRequest.mostTexts
            else {
                throw RefusedRequest(
                    400,
                    .invalidRequest,
                    "The query is percent-encoded UTF-8 of at most \(ApiRequest.mostTexts) names"
                )
            }
            query.append((name, value))
        }
    }

    static func == (left: RequestTarget, right: RequestTarget) -> Bool {
        left.path == right.path && left.query.elementsEqual(right.query, by: ==)
    }

    /// The first value of this name.
    func value(_ name: String) -> String? { query.first { $0.name == name }?.value }

    /// What a form or a program has escaped: `+` is a blank, as the servers behind it read it.
    private static func unescaped(_ text: Substring) -> String? {
        var bytes: [UInt8] = []
        var rest = text.utf8[...]
        while let byte = rest.popFirst() {
            switch byte {
            case UInt8(ascii: "+"): bytes.append(UInt8(ascii: " "))
            case UInt8(ascii: "%"):
                guard let high = rest.popFirst().flatMap(digit), let low = rest.popFirst().flatMap(digit) else {
                    return nil
                }
                bytes.append(high << 4 | low)
            default: bytes.append(byte)
            }
        }
        return String(validating: bytes, as: UTF8.self)
    }

    private static func digit(_ byte: UInt8) -> UInt8? {
        Character(Unicode.Scalar(byte)).hexDigitValue.map(UInt8.init)
    }
}
