/// The counters since the start or the last reset.
struct Tally: Codable, Sendable {
    /// One endpoint, such as `POST /v1/token`.
    struct Endpoint: Codable, Sendable {
        var requests = 0
        var inFlight = 0
        var mostInFlight = 0
        /// The number of answers by status. `dropped` counts connections that were closed instead.
        var answers: [String: Int] = [:]
    }

    var requests = 0
    var tokenRequests = 0
    /// The largest number of token requests that were in progress at the same time.
    var mostConcurrentTokenRequests = 0
    var exchanges = 0
    var refreshes = 0
    /// Refreshes granted to a replaced token within its grace.
    var replays = 0
    /// Families that ended because an invalid token was used.
    var familyRevocations = 0
    var deviceCodes = 0
    /// Polls for the tokens of a device code.
    var polls = 0
    var signOuts = 0
    /// Connections closed without an answer.
    var dropped = 0
    var hanging = 0
    /// Outcomes by grant, such as `grants.refresh_token.granted`.
    var grants: [String: [String: Int]] = [:]
    var endpoints: [String: Endpoint] = [:]
}

extension Tally {
    /// The figures that `GET /sandbox/await` can wait for, by name.
    var figures: [(name: String, value: Int)] {
        Mirror(reflecting: self).children.compactMap { child in
            guard let name = child.label, let value = child.value as? Int else { return nil }
            return (name, value)
        }
    }

    /// A tally that counts only the requests in progress.
    var underWay: Tally {
        var fresh = Tally()
        fresh.hanging = hanging
        for (name, endpoint) in endpoints where endpoint.inFlight > 0 {
            fresh.endpoints[name] = Endpoint(inFlight: endpoint.inFlight)
        }
        return fresh
    }

    mutating func count(_ grant: String, _ outcome: String) {
        grants[grant, default: [:]][outcome, default: 0] += 1
    }

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

    mutating func granted(_ grant: GrantType, isReplay: Bool) {
        count(grant.rawValue, isReplay ? "replayed" : "granted")
        if grant == .refresh { refreshes += 1 } else { exchanges += 1 }
        if isReplay { replays += 1 }
    }

    mutating func refused(_ grant: GrantType, _ refusal: TokenRefusal) {
        count(grant.rawValue, refusal.outcome)
        if refusal.endsLogin { familyRevocations += 1 }
    }
}
