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
