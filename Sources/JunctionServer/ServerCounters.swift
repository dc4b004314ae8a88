package import JunctionProtocol

/// What the socket has done since the start, for the metrics.
package struct ServerCounters: Equatable, Sendable {
    private var requestsOfMethod = [Int](repeating: 0, count: Method.allCases.count)
    /// Errors that were answered, by code.
    package private(set) var errors: [Int: Int] = [:]
    /// Connections that were accepted, those that were turned away at once included.
    package internal(set) var acceptedConnections = 0
    /// Connections that were turned away.
    package internal(set) var turnedAwayConnections = 0
    /// Connections that are open now.
    package internal(set) var openConnections = 0
    /// Connections that are subscribed now.
    package internal(set) var watchers = 0
    /// Connections that are session handlers now.
    package internal(set) var handlers = 0
    /// Access tokens that were handed out.
    package internal(set) var tokensServed = 0
    /// Calls that were refused because the caller lacked the capability.
    package internal(set) var refusals = 0

    /// Starts at zero.
    package init() {}

    /// How often a method was called, with or without success.
    package func requests(of method: Method) -> Int { requestsOfMethod[method.rawValue] }

    mutating func count(_ method: Method) { requestsOfMethod[method.rawValue] += 1 }

    mutating func count(_ error: WireError) { errors[error.code, default: 0] += 1 }
}
