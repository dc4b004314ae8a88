/// What has been counted since the start or the last reset.
struct Tally: Codable, Sendable {
    /// One endpoint, such as `POST /v1/token`.
    struct Endpoint: Codable, Sendable {
        var requests = 0
        var inFlight = 0
        var mostInFlight = 0
        /// Answers by status; `dropped` for a connection closed instead.
        var answers: [String: Int] = [:]
    }

    /// A figure that `GET /sandbox/await` can wait for.
    enum Counter: String, Sendable, CaseIterable {
        case requests
        case tokenRequests
        case exchanges
        case refreshes
        case replays
        case familyRevocations
        case deviceCodes
        case polls
        case signOuts
        case dropped
        case hanging
    }

    /// Requests that have arrived, at whatever endpoint of a vendor.
    var requests = 0
    /// Those of them that asked for tokens.
    var tokenRequests = 0
    /// How many token requests were under way at once, at most.
    var mostConcurrentTokenRequests = 0
    /// Exchanges that were granted.
    var exchanges = 0
    /// Refreshes that were granted, replays included.
    var refreshes = 0
    /// Refreshes that were granted to a replaced token within its grace.
    var replays = 0
    /// Families that ended because a token was used that was over.
    var familyRevocations = 0
    /// Device codes that were handed out.
    var deviceCodes = 0
    /// Requests that asked for the tokens of a device code.
    var polls = 0
    /// Sign-outs that were carried out.
    var signOuts = 0
    /// Connections closed without an answer.
    var dropped = 0
    /// Requests that hang now.
    var hanging = 0
    /// Outcomes by grant, such as `grants.refresh_token.granted`.
    var grants: [String: [String: Int]] = [:]
    var endpoints: [String: Endpoint] = [:]

    subscript(counter: Counter) -> Int {
        switch counter {
        case .requests: requests
        case .tokenRequests: tokenRequests
        case .exchanges: exchanges
        case .refreshes: refreshes
        case .replays: replays
        case .familyRevocations: familyRevocations
        case .deviceCodes: deviceCodes
        case .polls: polls
        case .signOuts: signOuts
        case .dropped: dropped
        case .hanging: hanging
        }
    }
}

extension Tally {
    mutating func arrived(at endpoint: String, isTokenRequest: Bool) {
        requests += 1
        var figures = endpoints[endpoint] ?? Endpoint()
        figures.requests += 1
        figures.inFlight += 1
        figures.mostInFlight = max(figures.mostInFlight, figures.inFlight)
        endpoints[endpoint] = figures
        if isTokenRequest {
            tokenRequests += 1
            mostConcurrentTokenRequests = max(mostConcurrentTokenRequests, figures.inFlight)
        }
    }

    mutating func left(_ endpoint: String, answer: String) {
        endpoints[endpoint, default: Endpoint()].inFlight -= 1
        endpoints[endpoint, default: Endpoint()].answers[answer, default: 0] += 1
    }

    mutating func answered(_ grant: Grant, _ answer: TokenAnswer) {
        grants[grant.rawValue, default: [:]][answer.outcome, default: 0] += 1
        switch (grant, answer) {
        case (.exchange, .granted): exchanges += 1
        case (.refresh, .granted): refreshes += 1
        case (.refresh, .replayed):
            refreshes += 1
            replays += 1
        case (_, .familyRevoked): familyRevocations += 1
        case (_, .granted), (_, .replayed), (_, .invalidToken), (_, .reauthenticationRequired), (_, .invalidRequest):
            break
        }
    }
}
