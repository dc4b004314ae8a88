package import JunctionSecret

/// A provider's cloud as the session sees it: one call, one outcome. The session decides about retries, except of the
/// revocation of tokens that it never gets.
package protocol IdentityProvider: Sendable {
    /// The name in the configuration and on the wire: `junction`, `social`, `sinch`, `oauth`.
    var name: String { get }

    /// The schemes of the provider, and the properties of each.
    var schemes: [Scheme: SchemeTraits] { get }

    /// Reads the claims of a credential. It uses no network and no clock. A malformed credential is refused here.
    ///
    /// - Parameter configured: the environment and region of an API key that is already configured, if there is one.
    func examine(
        _ credential: Credential,
        configured: (environment: String, region: String)?
    ) throws(CredentialRefused) -> CredentialFacts

    /// Returns the host that accepts or refuses the credential, for the log. `nil` if no request is made.
    func host(of credential: Credential) -> String?

    /// Exchanges a credential for a session. Treat the credential as spent, unless the error says that no request was
    /// sent. `store` keeps partial grants; the next attempt with the same credential continues with them.
    ///
    /// - Parameter expected: the only permitted user (a link code under a session that needs reauthentication). If
    ///   another user is known before the final exchange, the call fails with `.otherUser`. A grant for another user is
    ///   returned, and the session refuses and revokes it.
    func exchange(
        _ credential: Credential,
        expecting expected: Identity?,
        store: PartialGrantStore
    ) async throws(ExchangeFailure) -> Grant

    /// Begins a device sign-in by requesting its codes. Only for the credential `.device`.
    func requestDeviceAuthorization(_ credential: Credential) async throws(ExchangeFailure) -> DeviceAuthorization

    /// Polls once whether the sign-in has been approved, or continues with a partial grant (`store`). No retry. The
    /// session decides when to poll.
    func poll(_ codes: DeviceCodes, store: PartialGrantStore) async throws(PollFailure) -> Grant

    /// Revokes a partial grant that is no longer needed.
    func revokePartialGrant(_ partialGrant: SharedSecret) async

    /// Returns the address of the provider's page for a sign-in in a browser. That page returns an authorization code.
    func authorizationPage(_ page: AuthorizationPage) async throws(AuthorizationPageFailure) -> String

    /// Renews the session: one request that may spend a secret, no retry, no redirect. Other requests may find its
    /// endpoint or its user.
    ///
    /// - Parameter secrets: the session's own secrets. They include an access token that is valid for both requests, if
    ///   there is one.
    /// - Parameter answer: the answer of a session handler, or `.renew` if no handler was asked.
    /// - Parameter sendDeadline: the time by which the request must be sent, or not at all, if there is one. Later
    ///   would miss the provider's grace for the refresh token. Name resolution and connection must be complete by
    ///   then.
    /// - Parameter store: keeps partial grants of a renewal with a handler's token. The next attempt with the same token
    ///   continues with them.
    /// - Returns: the grant. Its `token` is `nil` if the answer had a refresh token but no usable access token. That
    ///   refresh token replaces the session's own, and `missingAccessToken` has the reason.
    func renew(
        _ identity: Identity,
        with secrets: SessionSecrets,
        using answer: RenewalAnswer,
        sendingBy sendDeadline: Uptime?,
        store: PartialGrantStore
    ) async throws(RenewalFailure) -> Grant

    /// Asks the provider to revoke a session that a sign-out or a switch has ended here: one request, no retry. The change
    /// is already complete here and does not wait.
    ///
    /// The function returns when the revocation is finished: the provider has confirmed it, has finally refused it, or
    /// does not support it.
    /// An error is transient, and the session repeats the call.
    func revoke(_ identity: Identity, with secrets: SessionSecrets) async throws(Unavailability)

    /// Asks whether the provider still knows this session: one request, no retry. Called for schemes with
    /// `mayBeForgotten`.
    func knows(_ identity: Identity, with secrets: SessionSecrets) async throws(Unavailability) -> Bool

    /// Checks that a request stays within the signed-in user's own resources, and returns it in normal form.
    func validate(_ request: ApiRequest, for identity: Identity) throws(SessionError) -> ApiRequest

    /// Sends one admitted request as the signed-in user: no retry, no redirect, a bounded body. If the answer may hold a
    /// verdict, its body has arrived.
    func send(
        _ request: ApiRequest,
        for identity: Identity,
        with secrets: SessionSecrets
    ) async throws(Unavailability) -> ApiAnswer

    /// Returns the verdict on the user in an answer of the API. `nil` unless the answer explicitly says that the
    /// provider has ended this user's sessions.
    func verdict(in answer: ApiAnswer) -> Verdict?

    /// Checks for `doctor` whether the provider is reachable and whether its clock agrees.
    ///
    /// - Parameter mayCall: called before each request leaves. Returns the error if the request may not leave.
    func probe(_ identity: Identity?, mayCall: @Sendable () async -> SessionError?) async -> [ProbeFinding]
}

extension IdentityProvider {
    /// Returns nil, for a provider without hosts.
    package func host(of credential: Credential) -> String? { nil }

    /// Refuses, for a provider without device sign-ins.
    package func requestDeviceAuthorization(_ credential: Credential) async throws(ExchangeFailure)
        -> DeviceAuthorization
    {
        throw .refused("\(name) has no sign-in that is approved on another screen")
    }

    /// Refuses, for a provider without device sign-ins.
    package func poll(_ codes: DeviceCodes, store: PartialGrantStore) async throws(PollFailure) -> Grant {
        throw .refused("\(name) has no sign-in that is approved on another screen")
    }

    /// Refuses, for a provider without such a page.
    package func authorizationPage(_ page: AuthorizationPage) async throws(AuthorizationPageFailure) -> String {
        throw .refused(SessionError(.unsupported, "\(name) has no page on which a person could sign in by a browser"))
    }

    /// Renews without keeping partial grants.
    package func renew(
        _ identity: Identity,
        with secrets: SessionSecrets,
        using answer: RenewalAnswer,
        sendingBy sendDeadline: Uptime? = nil
    ) async throws(RenewalFailure) -> Grant {
        try await renew(identity, with: secrets, using: answer, sendingBy: sendDeadline, store: .none)
    }

    /// Exchanges a credential without keeping partial grants.
    package func exchange(
        _ credential: Credential,
        expecting expected: Identity?
    ) async throws(ExchangeFailure) -> Grant {
        try await exchange(credential, expecting: expected, store: .none)
    }

    package func poll(_ codes: DeviceCodes) async throws(PollFailure) -> Grant {
        try await poll(codes, store: .none)
    }

    /// Returns true, for a provider that forgets no session.
    package func knows(_ identity: Identity, with secrets: SessionSecrets) async throws(Unavailability) -> Bool { true }

    /// Does nothing, for a provider without partial grants, or whose partial grants need no revocation.
    package func revokePartialGrant(_ partialGrant: SharedSecret) async {}
}

/// The request parameters of a sign-in in a browser (RFC 6749 §4.1.1, RFC 7636 §4.3, RFC 8252).
package struct AuthorizationPage: Sendable {
    /// The address to which the browser returns.
    package var redirectUri: String
    /// The value that the browser returns unchanged.
    package var state: String
    /// The proof that the same program requests and redeems the code.
    package var proof: Proof

    package enum Proof: Sendable {
        /// The verifier's SHA-256 in Base64url.
        case challenge(String)
        /// The verifier from which the challenge is computed.
        case verifier(SharedSecret)
    }

    package init(redirectUri: String, state: String, proof: Proof) {
        self.redirectUri = redirectUri
        self.state = state
        self.proof = proof
    }
}

/// The reason why there is no authorization page.
package enum AuthorizationPageFailure: Error, Equatable, Sendable {
    /// A parameter is wrong, or the provider has no such page.
    case refused(SessionError)
    /// The address of the page could not be found.
    case unavailable(Unavailability)

    /// The error for the caller.
    package var refusal: SessionError {
        switch self {
        case .refused(let refusal): refusal
        case .unavailable(let failure): SessionError(failure, remedy: .signInAgain(after: failure))
        }
    }
}

/// The refusal of a credential before anything was sent.
package enum CredentialRefused: Error, Equatable, Sendable {
    /// The rule that failed, in words without the credential.
    case malformed(String)
    /// A parameter beside the credential is wrong, such as a region. The token, key or code itself is not at fault.
    case misdescribed(String)
    /// This provider does not have the scheme.
    case unsupported(String)
    /// A member that the scheme needs is missing.
    case incomplete(String)
    /// A setting of the provider is missing.
    case misconfigured(String)

    /// The rule that failed, in words.
    package var reason: String {
        switch self {
        case .malformed(let reason), .misdescribed(let reason), .unsupported(let reason), .incomplete(let reason),
            .misconfigured(let reason):
            reason
        }
    }
}

/// The reason why an exchange brought no session.
package enum ExchangeFailure: Error, Equatable, Sendable {
    /// The provider has explicitly refused this credential.
    case refused(String)
    /// The provider says that this user is banned or deleted.
    case terminated(code: String, message: String)
    /// The credential belongs to another user than the expected one.
    case otherUser(Identity)
    /// Any other failure. It does not end a session.
    case unavailable(Unavailability)
}

/// The answer of a session handler: the secret with which the session is renewed.
package enum RenewalAnswer: Sendable {
    /// The session's own secrets, or only the user's name if that is sufficient.
    case renew
    /// A token that the app's server made for this user.
    case authToken(SharedSecret)
    /// A signature that the app's server made for this user (a legacy scheme). It is not used again after a request
    /// that may have arrived.
    case signature(SharedSecret, sequence: UInt64)

    var authToken: SharedSecret? {
        if case .authToken(let token) = self { token } else { nil }
    }
}

/// The provider's explicit statement that a user is deleted, disabled or banned.
package struct Verdict: Hashable, Sendable {
    /// The provider's code as a string: `invalid_token`, `400312`, …
    package var code: String
    package var message: String

    package init(code: String, message: String) {
        self.code = code
        self.message = message
    }
}

/// The reason why a renewal brought no token.
package enum RenewalFailure: Error, Hashable, Sendable {
    /// A handler's secret is malformed, for another user, or refused. Another handler may have a better one.
    case answerRefused(String)
    /// The provider has forgotten this installation. A new registration is needed, and the session is kept.
    case registrationForgotten
    /// The provider's explicit verdict that the user is deleted, disabled or banned.
    case terminated(code: String, message: String)
    /// The provider demands a new credential. The session is kept.
    case reauthenticationRequired
    /// Any other failure, which is always transient.
    case unavailable(Unavailability)
}

/// A request to the provider's API, without the credential.
package struct ApiRequest: Sendable {
    package var method: String
    package var path: String
    package var query: [(name: String, value: String)]
    package var headers: [(name: String, value: String)]
    package var body: [UInt8]?
    package var passage = BodyTransfer.whole
    /// The largest body, in bytes, of a request that is not streamed and of an answer that is gathered.
    package static let longestBody = 8 << 20
    /// Whether headers that a caller may not set are left out instead of refused. A library may have added them by
    /// itself.
    package var leavesOutOtherHeaders = false

    /// How the bodies of a request and its answer are transferred.
    package enum BodyTransfer: Sendable {
        /// Complete: the request's body is in `body`, and the answer is gathered, with a bounded length and a bounded
        /// time.
        case whole
        /// Streamed, of any length: the answer's body, and the request's body if a stream is given.
        case streamed(BodyStream?)
    }

    /// The streamed request body, which can be sent only once.
    package var upload: BodyStream? {
        if case .streamed(let upload) = passage { upload } else { nil }
    }

    package init(
        method: String,
        path: String,
        query: [(name: String, value: String)] = [],
        headers: [(name: String, value: String)] = [],
        body: [UInt8]? = nil
    ) {
        self.method = method
        self.path = path
        self.query = query
        self.headers = headers
        self.body = body
    }
}

/// The provider's answer to an API request, with any status.
package struct ApiAnswer: Sendable {
    package var status: Int
    package var headers: [(name: String, value: String)]
    package var body: [UInt8]
    /// The streamed body. `body` is then empty. The owner of the answer must read the stream to its end or abandon it.
    package var stream: BodyStream?

    package init(status: Int, headers: [(name: String, value: String)], body: [UInt8], stream: BodyStream? = nil) {
        self.status = status
        self.headers = headers
        self.body = body
        self.stream = stream
    }
}

/// One result of `doctor`.
package struct ProbeFinding: Equatable, Sendable {
    package enum Verdict: String, Sendable {
        case ok
        case note
        case problem
    }

    package var name: String
    package var verdict: Verdict
    package var detail: String
    package var remedy: String?

    package init(name: String, verdict: Verdict, detail: String, remedy: String? = nil) {
        self.name = name
        self.verdict = verdict
        self.detail = detail
        self.remedy = remedy
    }
}
