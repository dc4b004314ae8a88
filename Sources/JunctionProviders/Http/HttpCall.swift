import JunctionSecret
import JunctionSession

/// One request of the session to a vendor: everything but how it is sent. A request that an app makes is an `ApiCall`.
struct HttpCall: Sendable {
    var method: String
    var origin: HttpOrigin
    /// Path and query as they are sent, below the origin's own path.
    var target: String
    var headers: [(name: String, value: String)] = []
    /// The headers that show who asks.
    var credentials: [(name: String, value: SharedSecret)] = []
    var body: Body?
    /// The most bytes of an answer that are read. No token answer comes near the default.
    var longestAnswer = 1 << 16
    /// How long the answer may take once the request leaves, where that is less than usual.
    var patience: Duration?
    /// How long name and connection may take together, where that is less than usual: later it is not worth sending.
    var sendDeadline: Duration?

    /// A request that may spend a token is given up after this, so that there is space to repeat it inside the grace that
    /// servers give: the session's replays count on it.
    static let tokenPatience: Duration = .seconds(10)

    /// What a slow line carries in a second, in bytes: 8 MiB take less than nine minutes.
    static let slowestLine = 1 << 14

    enum Body: Sendable {
        case plain([UInt8])
        /// Wiped as soon as nobody needs it any more.
        case secret(SharedSecret)
        /// Sent while it comes.
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
