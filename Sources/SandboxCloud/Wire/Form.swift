import JunctionText

/// The fields of an `application/x-www-form-urlencoded` body, in their order.
struct Form: Sendable {
    let fields: [(name: String, value: String)]

    static let contentType = "application/x-www-form-urlencoded"

    /// The fields that may be repeated (RFC 8707 §2, RFC 8693 §2.1).
    private static let repeatable: Set<String> = ["resource", "audience"]

    static func text(_ fields: [(name: String, value: String)]) -> String {
        fields.map { PercentEncoding.encode($0.name) + "=" + PercentEncoding.encode($0.value) }.joined(separator: "&")
    }

    init(_ body: String) {
        fields = body.split(separator: "&").map { pair in
            let halves = pair.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            return (Self.plain(halves[0]), halves.count == 2 ? Self.plain(halves[1]) : "")
        }
    }

    static func plain(_ text: Substring) -> String {
        PercentEncoding.plain(text.replacing("+", with: " "))
    }

    /// The first value of a field. An empty value counts as missing (RFC 6749 §3.1).
    subscript(name: String) -> String? { all(name).first }

    func all(_ name: String) -> [String] {
        fields.filter { $0.name == name && !$0.value.isEmpty }.map(\.value)
    }

    func require(_ name: String) throws(TokenRefusal) -> String {
        guard let value = self[name] else { throw TokenError.invalidRequest.because("'\(name)' is missing") }
        return value
    }

    /// Refuses a parameter that was sent twice (RFC 6749 §3.1).
    func requireDistinct() throws(TokenRefusal) {
        let names = fields.map(\.name).filter { !Self.repeatable.contains($0) }
        let twice = Dictionary(grouping: names) { $0 }.first { $0.value.count > 1 }
        if let twice { throw TokenError.invalidRequest.because("'\(twice.key)' was sent twice") }
    }

    /// The requested scopes, or `nil` if there is no `scope`.
    var scopes: [String]? {
        self["scope"]?.split(separator: " ").map(String.init)
    }
}

extension PercentEncoding {
    /// Decodes a text of a client. A text with an invalid escape stays as it is.
    static func plain(_ text: some StringProtocol) -> String {
        decode(text.utf8).map { String(decoding: $0, as: UTF8.self) } ?? String(text)
    }
}
