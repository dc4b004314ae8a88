import JunctionProtocol
import JunctionText

struct RequestTarget: Equatable {
    /// The path as it was received. The provider checks whether it belongs to the user.
    var path: String
    var query: [(name: String, value: String)] = []

    init(path: String, query: [(name: String, value: String)] = []) {
        (self.path, self.query) = (path, query)
    }

    /// Parses a request target in origin form (RFC 9112, section 3.2.1). The forms for proxies are refused.
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
                query.count < WireApiRequest.mostTexts
            else {
                throw RefusedRequest(
                    400,
                    .invalidRequest,
                    "The query is percent-encoded UTF-8 of at most \(WireApiRequest.mostTexts) names"
                )
            }
            query.append((name, value))
        }
    }

    static func == (left: RequestTarget, right: RequestTarget) -> Bool {
        left.path == right.path && left.query.elementsEqual(right.query, by: ==)
    }

    func value(_ name: String) -> String? { query.first { $0.name == name }?.value }

    /// Decodes percent-encoding; `+` is a blank, as in HTML forms.
    private static func unescaped(_ text: Substring) -> String? {
        let escaped = text.utf8.map { $0 == UInt8(ascii: "+") ? UInt8(ascii: " ") : $0 }
        return PercentEncoding.decode(escaped).flatMap { String(validating: $0, as: UTF8.self) }
    }
}
