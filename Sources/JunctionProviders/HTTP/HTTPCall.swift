import JunctionSecret
import JunctionSession

/// A request to a provider.
struct HTTPCall: Sendable {
    var method: String
    var origin: HTTPOrigin
    /// The path and the query, below the path of the origin.
    var target: String
    var headers: [(name: String, value: String)] = []
    /// The headers that hold credentials.
    var credentials: [(name: String, value: SharedSecret)] = []
    var body: Body?
    /// The most bytes of the answer. Token answers are far shorter than the default.
    var longestAnswer = 1 << 16
    /// The response timeout, from the moment when the request leaves, if it is shorter than the configured one.
    var patience: Duration?
    /// The time within which the request must leave, if there is one. After it the request is not worth sending.
    var sendDeadline: Duration?

    /// The response timeout of a request that may spend a token. It leaves time for a refresh retry within the
    /// provider's grace.
    static let tokenResponseTimeout: Duration = .seconds(10)

    /// The assumed speed of a slow line, in bytes per second: 8 MiB take less than nine minutes.
    static let slowestLine = 1 << 14

    enum Body: Sendable {
        case plain([UInt8])
        /// Wiped when it is no longer referenced.
        case secret(SharedSecret)
        /// Sent while it arrives.
        case streamed(BodyStream)

        var count: Int {
            switch self {
            case .plain(let bytes): bytes.count
            case .secret(let secret): secret.count
            case .streamed(let stream): Int(clamping: stream.length ?? 0)
            }
        }
    }
}
