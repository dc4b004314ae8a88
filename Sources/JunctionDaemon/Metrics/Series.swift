/// One metric, as it is announced: its name, what kind it is, and what it means.
struct Series {
    enum Kind: String {
        case counter
        case gauge
    }

    let name: String
    let kind: Kind
    let help: String

    private init(_ name: String, _ kind: Kind, _ help: String) {
        self.name = "junctiond_" + name
        self.kind = kind
        self.help = help
    }
}

/// All metrics that there are. The labels of each are fixed, and so are the values that they can have.
extension Series {
    static let buildInfo = Series("build_info", .gauge, "Always 1; the labels say what is running.")
    static let uptime = Series("uptime_seconds", .gauge, "Seconds since the daemon started, suspend included.")
    static let residentMemory = Series("resident_memory_bytes", .gauge, "Physical memory in use.")

    static let state = Series("session_state", .gauge, "1 for the state that the session is in, 0 for the others.")
    static let revision = Series("session_revision", .gauge, "Rises whenever anything about the session changes.")
    static let durable = Series("session_durable", .gauge, "1 if what is in memory is also on disk, 0 if not.")
    static let expiry = Series(
        "access_token_expiry_timestamp_seconds",
        .gauge,
        "When the access token expires, in seconds since 1970; 0 without one."
    )
    static let failures = Series("renewal_failures", .gauge, "Renewals that have failed in a row.")

    static let exchanges = Series("exchanges_total", .counter, "Credentials exchanged for a session, by outcome.")
    static let renewals = Series("renewals_total", .counter, "Renewals of the access token, by outcome.")
    static let signOuts = Series("sign_outs_total", .counter, "Sign-outs.")
    static let writes = Series("writes_total", .counter, "Writes of the sealed record, by outcome.")

    static let tokensServed = Series("tokens_served_total", .counter, "Access tokens handed to callers.")
    static let requests = Series("requests_total", .counter, "Requests received, by method.")
    static let errors = Series("errors_total", .counter, "Errors answered, by code.")
    static let refusals = Series("refusals_total", .counter, "Requests refused for want of a capability.")
    static let turnedAway = Series("turned_away_total", .counter, "Connections refused: too many of one user.")
    static let accepted = Series("accepted_total", .counter, "Connections accepted.")
    static let connections = Series("connections", .gauge, "Connections that are open.")
    static let watchers = Series("watchers", .gauge, "Connections that watch the session.")
    static let handlers = Series("session_handlers", .gauge, "Connections that are asked when the session is renewed.")
}
