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
}

extension Tally {
    /// The figures that `GET /sandbox/await` can wait for, by name.
    var figures: [(name: String, value: Int)] {
        Mirror(reflecting: self).children.compactMap { child in
            guard let name = child.label, let value = child.value as? Int else { return nil }
            return (name, value)
        }
    }

    /// Nothing, but for what is under way now.
    var underWay: Tally {
        var fresh = Tally()
        fresh.hanging = hanging
        for (name, endpoint) in endpoints where endpoint.inFlight > 0 {
            fresh.endpoints[name] = Endpoint(inFlight: endpoint.inFlight)
        }
        return fresh
    }

    /// Notes what became of a request for tokens.
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

    /// Notes a request of tokens that was granted.
    mutating func granted(_ grant: GrantType, isReplay: Bool) {
        count(grant.rawValue, isReplay ? "replayed" : "granted")
        if grant == .refresh { refreshes += 1 } else { exchanges += 1 }
        if isReplay { replays += 1 }
    }

    /// Notes a request of tokens that was refused.
    mutating func refused(_ grant: GrantType, _ refusal: TokenRefusal) {
        count(grant.rawValue, refusal.outcome)
        if refusal.endsLogin { familyRevocations += 1 }
    }
}
