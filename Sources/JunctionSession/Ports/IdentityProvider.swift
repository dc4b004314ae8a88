package import JunctionSecret

/// A provider's cloud as the session sees it: one call, one outcome. The session decides about retries.
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

    /// Revokes a partial grant that no attempt can use any more, like `revoke`.
    func revokePartialGrant(_ partialGrant: SharedSecret) async throws(Unavailability)

    /// Returns the address of the provider's page for a sign-in in a browser. That page returns an authorization code.
    func authorizationPage(_ page: AuthorizationPage) async throws(AuthorizationPageFailure) -> String

    /// Renews the session: one request that may spend a secret, no retry, no redirect. Other requests may find its
    /// endpoint or its user.
    ///
    /// - Parameter secrets: the session's own secrets. They do not include an access token that has expired. The access
    ///   token may expire before a second request leaves (`accessTokenEndsAt`).
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
    package func revokePartialGrant(_ partialGrant: SharedSecret) async throws(Unavailability) {}
}
