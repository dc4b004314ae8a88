import JunctionSecret

/// A complete answer, whatever its status.
struct HttpAnswer: Sendable {
    var status: Int
    var headers: [(name: String, value: String)]
    /// It may hold tokens, so it is kept like one.
    var body: SharedSecret
    /// Who answered, for messages.
    var place: String
    /// How long before its end the request had left.
    var sinceLeft: Duration?

    var isSuccess: Bool { (200..<300).contains(status) }

    /// Whether the answer may say something about the user, or about what was asked: a client error, and not one that
    /// only asks to wait.
    var mayBeVerdict: Bool { Self.mayBeVerdict(status: status) }

    static func mayBeVerdict(status: Int) -> Bool { (400..<500).contains(status) && status != 408 && status != 429 }

    /// The first header of this name, given in lower case.
    func header(_ name: String) -> String? {
        headers.first { $0.name.lowercased() == name }?.value
    }
}
