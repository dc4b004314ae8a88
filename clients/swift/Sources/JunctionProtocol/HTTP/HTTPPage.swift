/// The daemon's own HTTP pages, below `/.junction/`. Every other path belongs to the provider's API.
package enum HTTPPage: String, Sendable, CaseIterable {
    case status
    case token
    case metrics
    case events
    case openapi = "openapi.json"

    /// The prefix of their paths.
    package static let folder = "/.junction"

    package var path: String { "\(Self.folder)/\(rawValue)" }

    /// The JSON-RPC method with the same content.
    package var method: Method {
        switch self {
        case .status: .sessionStatus
        case .token: .tokenGet
        case .metrics: .daemonMetrics
        case .events: .sessionSubscribe
        case .openapi: .rpcDiscover
        }
    }

    package var contentType: String {
        switch self {
        case .status, .token, .openapi: "application/json"
        case .metrics: "text/plain; version=0.0.4; charset=utf-8"
        case .events: "text/event-stream"
        }
    }

    var summary: String {
        switch self {
        case .status: "The state of the session"
        case .token: "An access token that lives long enough; it is renewed if need be"
        case .metrics: "What the daemon has counted, in the text format of Prometheus"
        case .events: "The state of the session, and every new one, as server-sent events named 'snapshot'"
        case .openapi: "This document"
        }
    }

    /// Whether the page requires the header `Junction-Local`. Browsers and tools that only fetch an address do not send
    /// it.
    package var isGuarded: Bool { self == .token }

    /// The header that a guarded page requires.
    package static let guardHeader = "Junction-Local"
    /// The only accepted value of that header.
    package static let guardValue = "true"
}
