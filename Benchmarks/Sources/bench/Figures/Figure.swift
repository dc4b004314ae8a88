/// One question to the programs, and the rows that answer it.
protocol Figure: Sendable {
    /// How `--only` calls it.
    static var name: String { get }

    func measure(_ lab: Lab) throws -> [Row]
}

extension Sequence<(name: String, text: String)> {
    /// The peers' column.
    var peerText: String {
        let texts = map { "\($0.name) \($0.text)" }
        return texts.isEmpty ? "–" : texts.joined(separator: ", ")
    }
}
