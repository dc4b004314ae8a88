/// One measurement of the programs, and its rows.
protocol Figure: Sendable {
    /// Its name for `--only`.
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
