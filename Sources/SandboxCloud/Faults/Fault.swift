import Hummingbird

/// Something that shall go wrong with the requests it fits.
struct Fault: Codable, Sendable {
    enum Drop: String, Codable, Sendable {
        /// The connection closes before the vendor's side has seen the request.
        case before
        /// The connection closes after the request was carried out: the client cannot know.
        case after
    }

    // Which requests.

    /// How the path begins.
    var match: String
    var method: String?
    /// Only token requests of this grant.
    var grant: GrantType?
    /// How many requests it spoils; without it, all until the faults are cleared.
    var times: Int?

    // When.

    /// Seconds to wait before anything else.
    var latency: Double?
    /// Wait until `POST /sandbox/release`.
    var hang: Bool?
    /// Carry the request out, then spoil the answer.
    var commit: Bool?

    // What the client gets.

    var drop: Drop?
    var status: Int?
    /// A text, or any other JSON value, which is sent as JSON.
    var body: JSONValue?
    var contentType: String?
    var headers: [String: String]?
    /// A body that ends in the middle of a JSON text.
    var malformed: Bool?
    /// A body of this many bytes.
    var oversize: Int?
    /// The true answer, one byte each so many seconds.
    var slowBody: Double?
    /// `expires_in` as `"3600"` instead of `3600`.
    var expiresInAsString: Bool?
    /// A success without `refresh_token`.
    var omitRefreshToken: Bool?
    /// A success with these members instead of its own; `null` takes one away.
    var tokenMembers: [String: JSONValue]?

    /// Whether the vendor's side gets to see the request.
    var reachesVendor: Bool {
        commit == true || drop == .after || (drop == nil && !hasOwnAnswer)
    }

    /// Whether the true answer is thrown away for another.
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
    /// The fault, unless something in it can never happen.
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

    /// More than any client should take, and little enough to make in memory.
    private static let largestBody = 64 << 20
}
