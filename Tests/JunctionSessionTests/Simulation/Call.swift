import JunctionSession

/// A call of the owner that waits for the provider.
struct Call {
    var kind: Kind
    var user = "nobody"
    /// The only user who may come of it.
    var expected: String?
    /// The tokens that were sent.
    var refresh: Int?
    var access: Int?
    /// What a session handler gave.
    var given: Given?
    /// The link code that was sent.
    var link: Int?
    /// The caller who wants it.
    var request: Int?
    /// What is granted may be kept before its user is known.
    var isKept = false
    /// The same refresh token was sent before, and its outcome is unknown.
    var isRefreshRetry = false
    /// It left soon enough to be nothing but a replay.
    var isInsideGrace = false
    /// Nobody waits for its outcome any more: a sign-out, a sign-in or a verdict came in between.
    var isOvertaken = false
    /// Where the session was that an API call was made for.
    var era = 0
    var signOuts = 0
    /// The tokens whose user is asked for.
    var tokens: SimulatedProvider.Tokens?
    var sentAt: Int64 = 0
    var continuation: UnsafeContinuation<Answer, Never>?

    enum Kind: Hashable {
        case exchange, renewal, authorization, userinfo, revocation, api
        case poll(Int)
    }

    /// A secret of an app's server, as a handler gave it.
    struct Given: Equatable {
        var user: String
        var isGood: Bool
    }

    /// Whether it is the one exchange that may be in flight, in any of its parts.
    var isOfSignIn: Bool {
        switch kind {
        case .exchange, .authorization, .poll, .userinfo: true
        case .renewal, .revocation, .api: false
        }
    }
}

/// What comes back for a call.
enum Answer: Sendable {
    case codes(SimulatedProvider.Codes)
    case undecided(PollFailure)
    case granted(SimulatedProvider.Tokens)
    /// The tokens do not say whose they are.
    case unnamed(SimulatedProvider.Tokens)
    /// A renewal spent its refresh token, and brought the next one without an access token that can be used.
    case successor(SimulatedProvider.Tokens)
    case deleted, reauthentication
    case otherUser(String)
    /// A transient failure: whether the provider may have acted, and how long it wants to be left alone.
    case unavailable(isAmbiguous: Bool, retryAfter: Duration?)
    /// A gateway before the provider says no, and not why: to the session's refresh token, or to something else.
    case unexplained(isOfToken: Bool)
    case answerRefused, refused
    /// Of an API call.
    case status(Int)
    /// A sign-out was heard of.
    case revoked
}
