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

    enum CodingKeys: String, CodingKey, CaseIterable {
        case match
        case method
        case grant
        case times
        case latency
        case hang
        case commit
        case drop
        case status
        case body
        case contentType
        case headers
        case malformed
        case oversize
        case slowBody
        case expiresInAsString
        case omitRefreshToken
        case tokenMembers
    }

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

extension Fault: Order {}
