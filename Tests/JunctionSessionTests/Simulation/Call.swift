import JunctionSession

/// A call of the owner that waits for the provider.
struct Call {
    var kind: Kind
    var user = "nobody"
    /// The only user whom the call may sign in.
    var expected: String?
    /// The tokens of the request.
    var refresh: Int?
    var access: Int?
    /// The secret of a session handler.
    var given: Given?
    /// The link code of the request.
    var link: Int?
    /// The caller of the request.
    var request: Int?
    /// Whether the grant may be kept before its user is known.
    var isKept = false
    /// Whether the same refresh token was sent before with an unknown outcome.
    var isRefreshRetry = false
    /// Whether the request left so early that it must be a refresh retry.
    var isInsideGrace = false
    /// Whether a sign-out, a sign-in or a verdict has overtaken the call.
    var isOvertaken = false
    /// The era in which an API call was made.
    var era = 0
    var signOuts = 0
    /// The tokens whose user is requested.
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

    /// Whether the call belongs to the one exchange that may be in flight.
    var isOfSignIn: Bool {
        switch kind {
        case .exchange, .authorization, .poll, .userinfo: true
        case .renewal, .revocation, .api: false
        }
    }
}

/// The provider's answer to a call.
enum Answer: Sendable {
    case codes(SimulatedProvider.Codes)
    case undecided(PollFailure)
    case granted(SimulatedProvider.Tokens)
    /// Tokens without their user.
    case unnamed(SimulatedProvider.Tokens)
    /// A renewal that spent its refresh token and brought the next one without a usable access token.
    case successor(SimulatedProvider.Tokens)
    case deleted, reauthentication
    case otherUser(String)
    /// A transient failure: whether the provider may have acted, and the pause that it demands.
    case unavailable(isAmbiguous: Bool, retryAfter: Duration?)
    /// A gateway in front of the provider refuses without a reason: the session's refresh token, or another request.
    case unexplained(isOfToken: Bool)
    case answerRefused, refused
    /// The answer to an API call.
    case status(Int)
    /// A completed revocation.
    case revoked
}
