package import JunctionProtocol

/// The server's counters since the start, for the metrics.
package struct ServerCounters: Equatable, Sendable {
    private var requestsOfMethod = [Int](repeating: 0, count: Method.allCases.count)
    /// Answered errors, by code.
    package private(set) var errors: [Int: Int] = [:]
    /// Accepted connections, including those that were refused at once.
    package internal(set) var acceptedConnections = 0
    package internal(set) var turnedAwayConnections = 0
    package internal(set) var openConnections = 0
    /// Connections that are subscribed.
    package internal(set) var watchers = 0
    /// Connections that are session handlers.
    package internal(set) var handlers = 0
    /// Access tokens that callers received.
    package internal(set) var tokensServed = 0
    /// Access tokens by the unit of the caller.
    package internal(set) var tokensOfUnits: [TokensOfUnit] = []
    /// How long callers waited for a token that was not in memory.
    package internal(set) var tokenWaits = DurationHistogram()
    /// Calls that were refused because the caller lacked the capability.
    package internal(set) var refusals = 0

    /// The number of tokens that the callers of one unit received.
    package struct TokensOfUnit: Equatable, Sendable {
        package var unit: String
        package var count: Int
    }

    /// The name for callers that are in no unit.
    package static let noUnit = "(none)"
    /// The name for the units above the limit of `UnitCounters`.
    package static let otherUnits = "(other)"

    package init() {}

    /// Returns how often a method was called, with or without success.
    package func requests(of method: Method) -> Int { requestsOfMethod[method.rawValue] }

    mutating func count(_ method: Method) { requestsOfMethod[method.rawValue] += 1 }

    mutating func count(_ error: WireError) { errors[error.code, default: 0] += 1 }
}
