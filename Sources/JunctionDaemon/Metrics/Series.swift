/// One metric: its name, its kind and its help text.
struct Series {
    enum Kind: String {
        case counter
        case gauge
        case histogram
    }

    /// The full name, such as `junctiond_session_state`.
    let name: String
    let kind: Kind
    let help: String

    private init(_ name: String, _ kind: Kind, _ help: String) {
        self.name = "junctiond_" + name
        self.kind = kind
        self.help = help
    }
}

/// All metrics. The labels of each metric are fixed, and so are their values.
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
    static let storage = Series(
        "storage_status",
        .gauge,
        "1 for how the stored session is (ok, locked, damaged, unavailable), 0 for the others."
    )
    static let reauthentication = Series(
        "reauthentication_pending",
        .gauge,
        "1 if the provider wants a new credential for the user, 0 if not."
    )
    static let phase = Series("renewal_phase", .gauge, "1 for the phase of the renewal, 0 for all other phases.")
    static let lastRenewal = Series(
        "last_renewal_timestamp_seconds",
        .gauge,
        "When the provider granted the present token, by a renewal or a sign-in, in seconds since 1970; 0 without one."
    )
    static let nextRenewal = Series(
        "next_renewal_timestamp_seconds",
        .gauge,
        "When the next renewal is tried, in seconds since 1970; 0 where that is no matter of time."
    )
    static let failures = Series("renewal_failures", .gauge, "Renewals that have failed in a row.")

    static let exchanges = Series("exchanges_total", .counter, "Credentials exchanged for a session, by outcome.")
    static let renewals = Series("renewals_total", .counter, "Renewals of the access token, by outcome.")
    static let failedRenewals = Series("failed_renewals_total", .counter, "Renewals that failed, by cause.")
    static let providerRequests = Series(
        "provider_request_duration_seconds",
        .histogram,
        "How long requests to the provider took, answered or not."
    )
    static let clockSkew = Series(
        "clock_skew_seconds",
        .gauge,
        "How far the provider's clock is ahead of this machine's, by its last answer; 0 before the first."
    )
    static let signOuts = Series("sign_outs_total", .counter, "Sign-outs.")
    static let writes = Series("writes_total", .counter, "Writes of the sealed record, by outcome.")

    static let tokensServed = Series("tokens_served_total", .counter, "Access tokens handed to callers.")
    static let tokensOfUnits = Series(
        "tokens_served_by_unit_total",
        .counter,
        "Access tokens handed to the callers of a unit; (none): callers in no unit, (other): units beyond the first 64."
    )
    static let tokenWaits = Series(
        "token_wait_seconds",
        .histogram,
        "How long callers waited for an access token that was not at hand; the others were answered from memory."
    )
    static let requests = Series("requests_total", .counter, "Requests received, by method.")
    static let errors = Series("errors_total", .counter, "Errors answered, by code.")
    static let refusals = Series("refusals_total", .counter, "Requests refused for want of a capability.")
    static let turnedAway = Series("turned_away_total", .counter, "Connections refused: too many of one user.")
    static let accepted = Series("accepted_total", .counter, "Connections accepted.")
    static let connections = Series("connections", .gauge, "Connections that are open.")
    static let watchers = Series("watchers", .gauge, "Connections that watch the session.")
    static let handlers = Series("session_handlers", .gauge, "Connections that are asked when the session is renewed.")
}
