/// What the daemon tells over HTTP about itself, below `/.junction/`; every other path is the provider's API.
package enum HttpPage: String, Sendable, CaseIterable {
    case status
    case token
    case metrics
    case events
    case openapi = "openapi.json"

    /// What stands before each of them.
    package static let folder = "/.junction"

    /// Its path.
    package var path: String { "\(Self.folder)/\(rawValue)" }

    /// The method of the other socket that says the same.
    package var method: Method {
        switch self {
        case .status: .sessionStatus
        case .token: .tokenGet
        case .metrics: .daemonMetrics
        case .events: .sessionSubscribe
        case .openapi: .rpcDiscover
        }
    }

    /// In what it is told.
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

    /// Whether it takes the header `Junction-Local`, which no browser and no fetched address brings along.
    package var isGuarded: Bool { self == .token }

    /// The header that a guarded page takes…
    package static let guardHeader = "Junction-Local"
    /// …and its only value.
    package static let guardValue = "true"
}
