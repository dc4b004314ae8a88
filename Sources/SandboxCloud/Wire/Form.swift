/// The fields of an `application/x-www-form-urlencoded` body, in the order they came.
struct Form: Sendable {
    let fields: [(name: String, value: String)]

    static let contentType = "application/x-www-form-urlencoded"

    /// The text that such fields are sent as.
    static func text(_ fields: [(name: String, value: String)]) -> String {
        fields.map { PercentText.escaped($0.name) + "=" + PercentText.escaped($0.value) }.joined(separator: "&")
    }

    init(_ body: String) {
        fields = body.split(separator: "&").map { pair in
            let halves = pair.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            return (Self.plain(halves[0]), halves.count == 2 ? Self.plain(halves[1]) : "")
        }
    }

    /// The first value of a field.
    subscript(name: String) -> String? {
        fields.first { $0.name == name }?.value
    }

    /// All values of a field that may be repeated.
    func all(_ name: String) -> [String] {
        fields.filter { $0.name == name }.map(\.value)
    }

    /// What an escaped name or value stands for.
    static func plain(_ text: Substring) -> String {
        PercentText.plain(text.replacing("+", with: " "))
    }
}
