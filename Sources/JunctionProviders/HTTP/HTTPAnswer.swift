import JunctionSecret

/// A complete answer, with any status.
struct HTTPAnswer: Sendable {
    var status: Int
    var headers: [(name: String, value: String)]
    /// A secret, because it may hold tokens.
    var body: SharedSecret
    /// The name of the server for messages.
    var place: String
    /// The time between the moment when the request left and the end of the answer.
    var sinceLeft: Duration?

    var isSuccess: Bool { (200..<300).contains(status) }

    /// Whether the answer may be a verdict on the user or on the request: a client error other than a request to wait.
    var mayBeVerdict: Bool { Self.mayBeVerdict(status: status) }

    static func mayBeVerdict(status: Int) -> Bool { (400..<500).contains(status) && status != 408 && status != 429 }

    /// Returns the first header with this name. The name is in lower case.
    func header(_ name: String) -> String? {
        headers.first { $0.name.lowercased() == name }?.value
    }
}
