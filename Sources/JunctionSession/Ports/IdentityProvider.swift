package import JunctionSecret

/// A vendor's cloud, seen from the session: one call, one outcome. Retrying belongs to the session.
package protocol IdentityProvider: Sendable {
    /// The name in the configuration and on the wire: `junction`, `social`, `sinch`, `oauth`.
    var name: String { get }

    /// The schemes that it has, and what the session has to know of each.
    var schemes: [Scheme: SchemeTraits] { get }

    /// Reads what a credential says about itself. No network, no clock: a malformed one is refused here.
    ///
    /// - Parameter configured: the environment and region of an API key that is already configured, if any.
    func examine(
        _ credential: Credential,
        configured: (environment: String, region: String)?
    ) throws(CredentialRefused) -> CredentialFacts

    /// Exchanges a credential for a session. The credential is spent by this, whatever comes back; what it brings before the
    /// sign-in is complete is kept with `store`, and the next try of the same credential begins there.
    ///
    /// - Parameter expected: the only user that may come out (a link code under a session that needs
    ///   reauthentication). Where another one is known before the final exchange is made, that is `.otherUser`; a grant for
    ///   another one is given back all the same: the session refuses and revokes it.
    func exchange(
        _ credential: Credential,
        expecting expected: Identity?,
        store: PartialGrantStore
    ) async throws(ExchangeFailure) -> Grant

    /// Begins a sign-in that a person approves on another screen: asks the provider for its codes. Only for a credential
    /// that awaits approval.
    func authorize(_ credential: Credential) async throws(ExchangeFailure) -> DeviceAuthorization

    /// Asks whether the sign-in has been approved, or completes what an approval has brought (`store`): no retry. When to poll
    /// is the session's affair.
    func poll(_ codes: DeviceCodes, store: PartialGrantStore) async throws(PollFailure) -> Grant

    /// Gives back what a partial grant holds, as nobody wants it any more.
    func giveBack(_ partialGrant: SharedSecret) async

    /// The provider's page on which a person signs in by a browser: what comes back is an authorization code.
    func authorizationPage(_ page: AuthorizationPage) async throws(SessionError) -> String

    /// Renews the session: one request, no retry, no redirect; where its refusal can mean two things, one look at the user.
    ///
    /// - Parameter secrets: the session's own; an access token is among them while it lives, and outlives both requests.
    /// - Parameter answer: what a session handler said to renew with; `.renew` when nobody has to be asked.
    /// - Parameter sendDeadline: a refresh token that may be spent is sent before this or not at all, where there is such a time:
    ///   later would be too late for the provider's grace. Name and connection have to stand by then.
    /// - Returns: the grant. Its `token` is absent if the answer carried a refresh token and no access token that can be used:
    ///   that refresh token replaces the session's own all the same, and `shortfall` says what was wrong with the rest.
    func renew(
        _ identity: Identity,
        with secrets: SessionSecrets,
        using answer: RenewalAnswer,
        sendingBy sendDeadline: Uptime?
    ) async throws(RenewalFailure) -> Grant

    /// Tells the provider that the user has signed out here, where it wants to know: one request, no retry. The local
    /// sign-out is over already and does not wait.
    ///
    /// It returns when there is nothing more to tell: the provider knows, has refused for good, or need not know. What
    /// it throws is transient, and the session tells it again.
    func revoke(_ identity: Identity, with secrets: SessionSecrets) async throws(Unavailability)

    /// Asks whether the provider still knows this session: one request, no retry. It is asked of schemes with `mayBeForgotten`.
    func knows(_ identity: Identity, with secrets: SessionSecrets) async throws(Unavailability) -> Bool

    /// Decides whether a request stays within the signed-in user's own resources, and in which normal form it is sent.
    func admit(_ request: ApiRequest, for identity: Identity) throws(SessionError) -> ApiRequest

    /// Sends one admitted request as the signed-in user: no retry, no redirect, a bounded body.
    func send(
        _ request: ApiRequest,
        for identity: Identity,
        with secrets: SessionSecrets
    ) async throws(Unavailability) -> ApiAnswer

    /// What an answer of the API says about the user for whom the request was made: nothing, unless the provider has ended
    /// this user's sessions in so many words.
    func verdict(in answer: ApiAnswer) -> Verdict?

    /// Looks whether the provider can be reached and whether its clock agrees, for `doctor`.
    ///
    /// - Parameter mayCall: asked before each request leaves; says why it may not, if so.
    func probe(_ identity: Identity?, mayCall: @Sendable () async -> SessionError?) async -> [ProbeFinding]
}

extension IdentityProvider {
    /// Refused, by a provider without such a scheme: none of its credentials awaits approval.
    package func authorize(_ credential: Credential) async throws(ExchangeFailure) -> DeviceAuthorization {
        throw .refused("\(name) has no sign-in that is approved on another screen")
    }

    /// Refused likewise.
    package func poll(_ codes: DeviceCodes, store: PartialGrantStore) async throws(PollFailure) -> Grant {
        throw .refused("\(name) has no sign-in that is approved on another screen")
    }

    /// Refused, by a provider without such a page.
    package func authorizationPage(_ page: AuthorizationPage) async throws(SessionError) -> String {
        throw SessionError(.unsupported, "\(name) has no page on which a person could sign in by a browser")
    }

    /// Renews with what was not sent before: it leaves when it can.
    package func renew(
        _ identity: Identity,
        with secrets: SessionSecrets,
        using answer: RenewalAnswer
    ) async throws(RenewalFailure) -> Grant {
        try await renew(identity, with: secrets, using: answer, sendingBy: nil)
    }

    /// The same where nothing is kept.
    package func exchange(
        _ credential: Credential,
        expecting expected: Identity?
    ) async throws(ExchangeFailure) -> Grant {
        try await exchange(credential, expecting: expected, store: .none)
    }

    package func poll(_ codes: DeviceCodes) async throws(PollFailure) -> Grant {
        try await poll(codes, store: .none)
    }

    /// Yes, of a provider that forgets no session.
    package func knows(_ identity: Identity, with secrets: SessionSecrets) async throws(Unavailability) -> Bool { true }

    /// Nothing, for a provider whose credentials bring a session at once, or nothing that lives on.
    package func giveBack(_ partialGrant: SharedSecret) async {}
}

/// What an app has prepared for a sign-in by a browser (RFC 6749 §4.1.1, RFC 7636 §4.3, RFC 8252).
package struct AuthorizationPage: Sendable {
    /// Where the browser comes back to.
    package var redirectUri: String
    /// What it brings along unchanged.
    package var state: String
    /// What shows that whoever redeems the code is who asked for it.
    package var proof: Proof

    package enum Proof: Sendable {
        /// The verifier's SHA-256, in Base64url.
        case challenge(String)
        /// What the challenge is made of.
        case verifier(SharedSecret)
    }

    package init(redirectUri: String, state: String, proof: Proof) {
        self.redirectUri = redirectUri
        self.state = state
        self.proof = proof
    }
}

/// A credential that was refused before anything was sent: malformed, or not for this provider.
package enum CredentialRefused: Error, Equatable, Sendable {
    /// Which rule failed, in words; never the credential.
    case malformed(String)
    /// What was said beside it is wrong, such as a region: the token, key or code itself is not at fault.
    case misdescribed(String)
    /// This provider does not have the scheme.
    case unsupported(String)
    /// A member that the scheme needs is missing.
    case incomplete(String)

    /// Which rule failed, in words.
    package var reason: String {
        switch self {
        case .malformed(let reason), .misdescribed(let reason), .unsupported(let reason), .incomplete(let reason):
            reason
        }
    }
}

/// Why an exchange brought no session.
package enum ExchangeFailure: Error, Equatable, Sendable {
    /// The provider's explicit no to this credential.
    case refused(String)
    /// The provider says that this user is banned or deleted.
    case terminated(code: String, message: String)
    /// The credential turned out to be for another user than the one expected.
    case otherUser(Identity)
    /// Everything else; nothing is lost.
    case unavailable(Unavailability)
}

/// With what a session is to be renewed.
package enum RenewalAnswer: Sendable {
    /// With the session's own secrets, or with nothing but the user's name where that is enough.
    case renew
    /// With a token that the app's server made for this user.
    case authToken(SharedSecret)
    /// With a signature that the app's server made for this user (a legacy scheme). One whose request may have arrived
    /// is not given again.
    case signature(SharedSecret, sequence: UInt64)
}

/// The provider's explicit word that a user is deleted, disabled or banned.
package struct Verdict: Hashable, Sendable {
    /// The provider's code, as a string: `invalid_token`, `400312`, …
    package var code: String
    package var message: String

    package init(code: String, message: String) {
        self.code = code
        self.message = message
    }
}

/// Why a renewal brought no token.
package enum RenewalFailure: Error, Hashable, Sendable {
    /// What a session handler gave is malformed, for another user, or refused: another handler may have better.
    case answerRefused(String)
    /// The provider has forgotten this installation: a new registration is needed, the session is kept.
    case registrationForgotten
    /// The provider's explicit verdict that the user is deleted, disabled or banned.
    case terminated(code: String, message: String)
    /// The provider wants a new credential; the session is kept.
    case reauthenticationRequired
    /// Everything else is transient, always.
    case unavailable(Unavailability)
}

/// A request to the provider's API, without the credential.
package struct ApiRequest: Equatable, Sendable {
    package var method: String
    package var path: String
    package var query: [(name: String, value: String)]
    package var headers: [(name: String, value: String)]
    package var body: [UInt8]?
    package var passage = Passage.whole
    /// The most bytes of a request that is whole, and of an answer that is gathered.
    package static let longestBody = 8 << 20
    /// Headers that a caller may not set are left out, and not refused: a library may have added them unasked.
    package var leavesOutOtherHeaders = false

    /// How bodies pass.
    package enum Passage: Equatable, Sendable {
        /// The request's in `body`; the answer's as it comes, of a bounded length and in bounded time: it is gathered.
        case whole
        /// As they come, of any length: the answer's, and the request's where it comes so instead of in `body`.
        case streamed(BodyStream?)

        package static func == (left: Passage, right: Passage) -> Bool {
            switch (left, right) {
            case (.whole, .whole): true
            case (.streamed(let left), .streamed(let right)): left === right
            case (.whole, .streamed), (.streamed, .whole): false
            }
        }
    }

    /// What is sent while it comes, and so once.
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

    package static func == (left: ApiRequest, right: ApiRequest) -> Bool {
        left.method == right.method && left.path == right.path && left.body == right.body
            && left.query.elementsEqual(right.query, by: ==) && left.headers.elementsEqual(right.headers, by: ==)
            && left.passage == right.passage && left.leavesOutOtherHeaders == right.leavesOutOtherHeaders
    }
}

/// The provider's answer to an API request, whatever its status.
package struct ApiAnswer: Equatable, Sendable {
    package var status: Int
    package var headers: [(name: String, value: String)]
    package var body: [UInt8]
    /// The body where it comes by and by, and `body` has nothing. Whoever has it takes all of it, or abandons it.
    package var stream: BodyStream?

    package init(status: Int, headers: [(name: String, value: String)], body: [UInt8], stream: BodyStream? = nil) {
        self.status = status
        self.headers = headers
        self.body = body
        self.stream = stream
    }

    package static func == (left: ApiAnswer, right: ApiAnswer) -> Bool {
        left.status == right.status && left.body == right.body && left.headers.elementsEqual(right.headers, by: ==)
            && left.stream === right.stream
    }
}

/// One thing that `doctor` looked at.
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

extension RenewalFailure {
    /// What the log and the metrics say of it.
    var reported: Unavailability {
        switch self {
        case .unavailable(let failure):
            failure
        case .answerRefused(let reason):
            Unavailability(reason, cause: .handler)
        case .registrationForgotten:
            Unavailability("The provider has forgotten this installation", cause: .registration)
        case .reauthenticationRequired:
            Unavailability(SessionError.reauthenticationRequired.message, cause: .reauthentication)
        case .terminated(let code, let message):
            Unavailability("\(message) (\(code))", cause: .termination)
        }
    }
}
