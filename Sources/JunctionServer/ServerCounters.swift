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
    /// The same by the unit of the caller.
    package internal(set) var tokensOfUnits: [TokensOfUnit] = []
    /// How long callers waited for a token that was not at hand.
    package internal(set) var tokenWaits = DurationHistogram()
    /// Calls that were refused because the caller lacked the capability.
    package internal(set) var refusals = 0

    /// How many tokens the callers of one unit were handed.
    package struct TokensOfUnit: Equatable, Sendable {
        package var unit: String
        package var count: Int
    }

    /// In place of a unit's name: the caller is in none.
    package static let noUnit = "(none)"
    /// The same: there are more units than are counted one by one.
    package static let otherUnits = "(other)"

    /// Starts at zero.
    package init() {}

    /// How often a method was called, with or without success.
    package func requests(of method: Method) -> Int { requestsOfMethod[method.rawValue] }

    mutating func count(_ method: Method) { requestsOfMethod[method.rawValue] += 1 }

    mutating func count(_ error: WireError) { errors[error.code, default: 0] += 1 }
}
