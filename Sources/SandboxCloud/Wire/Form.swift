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

    private static func plain(_ text: Substring) -> String {
        PercentText.plain(text.replacing("+", with: " "))
    }
}
