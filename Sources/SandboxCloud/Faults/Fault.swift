import Hummingbird

/// A planned failure of the requests that match it.
struct Fault: Codable, Sendable {
    enum Drop: String, Codable, Sendable {
        /// The connection closes before the vendor's endpoint receives the request.
        case before
        /// The connection closes after the request was carried out, so the outcome is ambiguous for the client.
        case after
    }

    // Which requests match.

    /// The prefix of the path.
    var match: String
    var method: String?
    /// The grant of a token request. Other requests do not match.
    var grant: GrantType?
    /// The number of requests that fail. Without it, every request fails until the faults are cleared.
    var times: Int?

    // When the fault acts.

    /// The delay before anything else, in seconds.
    var latency: Double?
    /// Delays the request until `POST /sandbox/release`.
    var hang: Bool?
    /// Carries the request out before the answer is replaced.
    var commit: Bool?

    // What the client receives.

    var drop: Drop?
    var status: Int?
    /// The body of the answer: a string is sent as it is, any other value as JSON.
    var body: JSONValue?
    var contentType: String?
    var headers: [String: String]?
    /// Whether the body ends in the middle of a JSON text.
    var malformed: Bool?
    /// The size of a very long body, in bytes.
    var oversize: Int?
    /// The number of seconds between two bytes of the original answer.
    var slowBody: Double?
    /// Whether `expires_in` is `"3600"` instead of `3600`.
    var expiresInAsString: Bool?
    /// Whether `refresh_token` is missing in a successful answer.
    var omitRefreshToken: Bool?
    /// Members that replace those of a successful token answer. `null` removes a member.
    var tokenMembers: [String: JSONValue]?

    /// Whether the vendor's endpoint receives the request.
    var reachesVendor: Bool {
        commit == true || drop == .after || (drop == nil && !hasOwnAnswer)
    }

    /// Whether another answer replaces the original one.
    var hasOwnAnswer: Bool {
        status != nil || body != nil || malformed == true || oversize != nil
    }

    func fits(method: String, path: String, grant: GrantType?) -> Bool {
        path.hasPrefix(match)
            && (self.method == nil || self.method?.uppercased() == method)
            && (self.grant == nil || self.grant == grant)
    }
}

extension Fault {
    /// Returns the fault. Refuses a combination of keys that can never take effect.
    func checked() throws(Refusal) -> Fault {
        let complaint: String? =
            if !match.hasPrefix("/") {
                "match is the beginning of a path, such as /v1/token"
            } else if let times, times < 1 {
                "times is 1 or more; leave it out for every request"
            } else if let status, !(200...599).contains(status) {
                "status is an HTTP status from 200 to 599"
            } else if !Settings.durations.contains(latency ?? 0) || !Settings.durations.contains(slowBody ?? 0) {
                "latency and slowBody are seconds"
            } else if let oversize, !(1...Self.largestBody).contains(oversize) {
                "oversize is a number of bytes up to \(Self.largestBody)"
            } else if let name = headers?.keys.first(where: { HeaderName($0) == nil }) {
                "'\(name)' is not the name of a header"
            } else {
                nil
            }
        if let complaint { throw .order(complaint) }
        return self
    }

    /// The largest body, in bytes: larger than any client should accept, and small enough to build in memory.
    private static let largestBody = 64 << 20
}
