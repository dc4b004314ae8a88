import JunctionSecret
import NIOCore

/// One request to a vendor: everything but how it is sent.
struct HttpCall: Sendable {
    var method: String
    var origin: HttpOrigin
    /// Path and query as they are sent, below the origin's own path.
    var target: String
    var headers: [(name: String, value: String)] = []
    var body: Body?
    /// The most bytes of an answer that are read. No token answer comes near the default.
    var longestAnswer = 1 << 16
    /// A deadline of its own, where the usual one is too patient.
    var patience: Duration?

    /// A request that may spend a token is given up after this, so that there is room to repeat it inside the grace that
    /// servers give: the session's replays count on it.
    static let tokenPatience: Duration = .seconds(10)

    enum Body: Sendable {
        case plain([UInt8])
        /// Wiped as soon as the answer is there.
        case secret(SharedSecret)

        var buffer: ByteBuffer {
            switch self {
            case .plain(let bytes): ByteBuffer(bytes: bytes)
            case .secret(let secret): secret.withUnsafeBytes { ByteBuffer(bytes: $0) }
            }
        }
    }
}

/// A complete answer, whatever its status.
struct HttpAnswer: Sendable {
    var status: Int
    var headers: [(name: String, value: String)]
    /// It may hold tokens, so it is kept like one.
    var body: SharedSecret
    /// Who answered, for messages.
    var place: String

    var isSuccess: Bool { (200..<300).contains(status) }

    /// Whether the answer may say something about the user, or about what was asked: a client error, and not one that
    /// only asks to wait.
    var mayBeVerdict: Bool { (400..<500).contains(status) && status != 408 && status != 429 }

    /// The first header of this name, given in lower case.
    func header(_ name: String) -> String? {
        headers.first { $0.name.lowercased() == name }?.value
    }
}
