package import JunctionSecret
package import JunctionSession
import Synchronization

/// A provider that answers from a script.
///
/// A Sign-In Token is the name of its user: `alice` is user `alice` of team `team` in sandbox/us. An empty token is
/// malformed. The link code `code-alice` belongs to `alice`. A registration accepts any token or signature. A device
/// sign-in stays pending until `approve(by:)`. An authorization code, a refresh token and a subject token are the names
/// of their users.
///
/// Scripted outcomes are used first, in order. Every other call succeeds, with a token that lives `tokenLife`. `hold()`
/// delays calls until `release()`.
package final class FakeProvider: IdentityProvider {
    package let name = "junction"
    private let clock: any SessionClock
    private let tokenLife: Duration
    private let state = Mutex(State())

    private struct State {
        var exchanges: [ExchangeFailure] = []
        var renewals: [RenewalFailure] = []
        var changeOfRenewals: @Sendable (inout Grant) -> Void = { _ in }
        var answers: [ApiAnswer] = []
        var failedCalls: [Unavailability] = []
        var holding = false
        var holdsCalls = false
        var held: [CheckedContinuation<Void, Never>] = []
        var issued = 0
        var exchangeCalls = 0
        var authorizations = 0
        var polls: [DeviceCodes] = []
        var approvedBy: String?
        var renewalAnswers: [RenewalAnswer] = []
        var renewalSecrets: [SessionSecrets] = []
        var renewalDepartures: [Uptime?] = []
        var revocations: [(Identity, SessionSecrets)] = []
        var failedRevocations: [Unavailability] = []
        var revocationsGivenUp = 0
        var apiCalls: [ApiRequest] = []
        var uploaded = 0
        var takesUploads = true
        var awaitsUploads = true
        var untaken: [CheckedContinuation<Void, Never>] = []
        var onHeld: (@Sendable () -> Void)?
    }

    package init(clock: any SessionClock, tokenLife: Duration = .seconds(3_600)) {
        self.clock = clock
        self.tokenLife = tokenLife
    }

    // MARK: The script

    package func failExchanges(_ failures: ExchangeFailure...) {
        state.withLock { $0.exchanges += failures }
    }

    package func failRenewals(_ failures: RenewalFailure...) {
        state.withLock { $0.renewals += failures }
    }

    /// Lets the pending device sign-in be approved by this user.
    package func approve(by user: String) {
        state.withLock { $0.approvedBy = user }
    }

    package func failRevocations(_ failures: Unavailability...) {
        state.withLock { $0.failedRevocations += failures }
    }

    package func answerCalls(_ answers: ApiAnswer...) {
        state.withLock { $0.answers += answers }
    }

    /// Makes calls fail with these failures, in this order, after the scripted answers are used up.
    package func failCalls(_ failures: Unavailability...) {
        state.withLock { $0.failedCalls += failures }
    }

    /// Changes the grants of later renewals.
    package func changeRenewals(_ change: @escaping @Sendable (inout Grant) -> Void) {
        state.withLock { $0.changeOfRenewals = change }
    }

    /// Delays every later call except API calls until `release()`, and calls `onHeld` for each delayed call.
    package func hold(onHeld: (@Sendable () -> Void)? = nil) {
        state.withLock { state in
            state.holding = true
            state.onHeld = onHeld
        }
    }

    /// Delays later API calls, and no other calls, until `release()`. A cancelled call is answered all the same.
    package func holdCalls() {
        hold()
        state.withLock { $0.holdsCalls = true }
    }

    package func release() {
        let held = state.withLock { state in
            defer { state.held = [] }
            (state.holding, state.holdsCalls) = (false, false)
            state.onHeld = nil
            return state.held
        }
        for continuation in held { continuation.resume() }
    }

    package var exchangeCalls: Int { state.withLock { $0.exchangeCalls } }
    package var polls: [DeviceCodes] { state.withLock { $0.polls } }
    package var renewalCalls: Int { renewalAnswers.count }
    package var renewalAnswers: [RenewalAnswer] { state.withLock { $0.renewalAnswers } }
    package var renewalSecrets: [SessionSecrets] { state.withLock { $0.renewalSecrets } }
    /// The send deadline of each renewal.
    package var renewalDepartures: [Uptime?] { state.withLock { $0.renewalDepartures } }
    /// The identity and the secrets of each attempt to revoke a session, in order.
    package var revocations: [(identity: Identity, secrets: SessionSecrets)] {
        state.withLock { $0.revocations.map { (identity: $0.0, secrets: $0.1) } }
    }
    /// Erases the recorded revocations and the secrets recorded for renewals.
    package func forgetCalls() {
        state.withLock {
            $0.revocations = []
            $0.renewalSecrets = []
        }
    }

    /// The number of revocations that were cancelled while they were held.
    package var revocationsGivenUp: Int { state.withLock { $0.revocationsGivenUp } }

    /// Leaves streamed request bodies unread until `takeUploads()`.
    package func leaveUploads() {
        state.withLock { $0.takesUploads = false }
    }

    /// Answers later calls before reading any of a streamed request body.
    package func answerBeforeUploads() {
        state.withLock { $0.awaitsUploads = false }
    }

    package func takeUploads() {
        let waiting = state.withLock { state in
            defer { state.untaken = [] }
            state.takesUploads = true
            return state.untaken
        }
        for continuation in waiting { continuation.resume() }
    }

    /// The number of bytes read from streamed request bodies.
    package var uploaded: Int { state.withLock { $0.uploaded } }

    package var apiCalls: [ApiRequest] { state.withLock { $0.apiCalls } }

    // MARK: IdentityProvider

    /// Every scheme, with the traits that its provider gives it.
    package static let allSchemes: [Scheme: SchemeTraits] = [
        .signInToken: SchemeTraits(renewsByRefreshToken: true),
        .linkCode: SchemeTraits(renewsByRefreshToken: true),
        .apiKey: SchemeTraits(reachesProvider: false),
        .userLogin: SchemeTraits(),
        .registration: SchemeTraits(asksApps: .always, mayBeForgotten: true),
        .registrationSignature: SchemeTraits(asksApps: .always, mayBeForgotten: true),
        .selfSigned: SchemeTraits(asksApps: .never, mayBeForgotten: true),
        .device: SchemeTraits(renewsByRefreshToken: true, mayRetryAfterDemand: true, isRevocableAfterExpiry: true),
        .authorizationCode: SchemeTraits(renewsByRefreshToken: true),
        .refreshToken: SchemeTraits(renewsByRefreshToken: true),
        .tokenExchange: SchemeTraits(),
    ]
    package let schemes = FakeProvider.allSchemes

    package func examine(
        _ credential: Credential,
        configured: (environment: String, region: String)?
    ) throws(CredentialRefused) -> CredentialFacts {
        switch credential {
        case .signInToken(let token):
            let user = token.text
            guard !user.isEmpty else { throw .malformed("The Sign-In Token is empty: ask your backend for a new one") }
            return CredentialFacts(scheme: .signInToken, subject: .user(Self.identity(user)))
        case .linkCode(let code):
            guard code.text.hasPrefix("code-") else { throw .malformed("The link code is not of the form code-USER") }
            return CredentialFacts(scheme: .linkCode, subject: .unnamed)
        case .apiKey(_, let user?, let environment, let region):
            let identity = Identity(userId: user, environment: environment ?? "sandbox", region: region ?? "us")
            return CredentialFacts(scheme: .apiKey, subject: .user(identity))
        case .apiKey(.some, nil, let environment, let region):
            let subject = CredentialFacts.Subject.nobody(environment: environment ?? "sandbox", region: region ?? "us")
            return CredentialFacts(scheme: .apiKey, subject: subject)
        case .apiKey(nil, nil, _, _):
            throw .incomplete("apiKey is missing")
        case .registration(let user, let token):
            let subject = CredentialFacts.Subject.user(Identity(userId: user))
            return CredentialFacts(scheme: .registration, subject: subject, needsHandler: token == nil)
        case .registrationSignature(let user, _, _):
            return CredentialFacts(scheme: .registrationSignature, subject: .user(Identity(userId: user)))
        case .device:
            return CredentialFacts(scheme: .device, subject: .unnamed)
        case .authorizationCode, .refreshToken, .tokenExchange:
            return CredentialFacts(scheme: credential.scheme, subject: .unnamed)
        case .userLogin, .selfSigned:
            throw .unsupported("This provider has no scheme \(credential.scheme.rawValue)")
        }
    }

    package func requestDeviceAuthorization(_ credential: Credential) async throws(ExchangeFailure)
        -> DeviceAuthorization
    {
        let start = clock.now()
        await waitWhileHeld()
        if let failure = state.withLock({ $0.exchanges.isEmpty ? nil : $0.exchanges.removeFirst() }) { throw failure }
        let number = state.withLock { state in
            state.authorizations += 1
            return state.authorizations
        }
        return DeviceAuthorization(
            codes: DeviceCodes(
                deviceCode: SharedSecret(text: "device-\(number)"),
                userCode: SharedSecret(text: "USER-\(number)"),
                verificationUri: "https://id.example.com/device",
                verificationUriComplete: SharedSecret(text: "https://id.example.com/device?user_code=USER-\(number)")
            ),
            life: Life(from: start, lasting: .seconds(600)),
            interval: .seconds(5)
        )
    }

    package func poll(_ codes: DeviceCodes, store: PartialGrantStore) async throws(PollFailure) -> Grant {
        state.withLock { $0.polls.append(codes) }
        let start = clock.now()
        await waitWhileHeld()
        guard let user = state.withLock({ $0.approvedBy }) else { throw .pending() }
        return grant(Self.identity(user), .device, from: start)
    }

    package func exchange(
        _ credential: Credential,
        expecting expected: Identity?,
        store: PartialGrantStore
    ) async throws(ExchangeFailure) -> Grant {
        state.withLock { $0.exchangeCalls += 1 }
        let start = clock.now()
        await waitWhileHeld()
        if let failure = state.withLock({ $0.exchanges.isEmpty ? nil : $0.exchanges.removeFirst() }) { throw failure }
        switch credential {
        case .signInToken(let token):
            return grant(Self.identity(token.text), from: start)
        case .linkCode(let code):
            let identity = Self.identity(String(code.text.dropFirst("code-".count)))
            if let expected, !identity.isSameUser(as: expected) { throw .otherUser(identity) }
            return grant(identity, from: start)
        case .apiKey(let key, let user?, let environment, let region):
            let identity = Identity(userId: user, environment: environment ?? "sandbox", region: region ?? "us")
            return Grant(identity: identity, scheme: .apiKey, token: nil, refreshToken: nil, apiKey: key)
        case .registration(let user, .some), .registrationSignature(let user, _, _):
            return grant(Identity(userId: user), credential.scheme, from: start)
        case .authorizationCode(let user, _, _), .refreshToken(let user), .tokenExchange(let user, _):
            return grant(Self.identity(user.text), credential.scheme, from: start)
        case .apiKey(_, nil, _, _), .registration(_, nil), .userLogin, .selfSigned, .device:
            throw .refused("Not scripted")
        }
    }

    package func revoke(_ identity: Identity, with secrets: SessionSecrets) async throws(Unavailability) {
        state.withLock { $0.revocations.append((identity, secrets)) }
        await waitWhileHeld()
        if Task.isCancelled {
            state.withLock { $0.revocationsGivenUp += 1 }
            throw Unavailability("The request was given up")
        }
        let failure = state.withLock { $0.failedRevocations.isEmpty ? nil : $0.failedRevocations.removeFirst() }
        if let failure { throw failure }
    }

    package func renew(
        _ identity: Identity,
        with secrets: SessionSecrets,
        using answer: RenewalAnswer,
        sendingBy sendDeadline: Uptime?,
        store: PartialGrantStore
    ) async throws(RenewalFailure) -> Grant {
        state.withLock {
            $0.renewalDepartures.append(sendDeadline)
            $0.renewalAnswers.append(answer)
            $0.renewalSecrets.append(secrets)
        }
        let start = clock.now()
        await waitWhileHeld()
        if let failure = state.withLock({ $0.renewals.isEmpty ? nil : $0.renewals.removeFirst() }) { throw failure }
        var granted = grant(identity, from: start)
        state.withLock { $0.changeOfRenewals }(&granted)
        return granted
    }

    package func validate(_ request: ApiRequest, for identity: Identity) throws(SessionError) -> ApiRequest {
        guard request.path.hasPrefix("/v2/user/\(identity.userId)") else {
            throw SessionError(.permissionDenied, "The path is not one of the signed-in user's own resources")
        }
        return request
    }

    package func send(
        _ request: ApiRequest,
        for identity: Identity,
        with secrets: SessionSecrets
    ) async throws(Unavailability) -> ApiAnswer {
        let (scripted, failure) = state.withLock { state -> (ApiAnswer?, Unavailability?) in
            state.apiCalls.append(request)
            if !state.answers.isEmpty { return (state.answers.removeFirst(), nil) }
            return (nil, state.failedCalls.isEmpty ? nil : state.failedCalls.removeFirst())
        }
        if let failure { throw failure }
        await waitWhileHeld(isApiCall: true)
        if let upload = request.upload, state.withLock({ $0.awaitsUploads }) { await take(upload) }
        return scripted
            ?? ApiAnswer(
                status: 200,
                headers: [(name: "content-type", value: "application/json")],
                body: Array("{}".utf8)
            )
    }

    private func take(_ upload: BodyStream) async {
        await withCheckedContinuation { continuation in
            let mayTake = state.withLock { state in
                if !state.takesUploads { state.untaken.append(continuation) }
                return state.takesUploads
            }
            if mayTake { continuation.resume() }
        }
        while upload.end == nil, !upload.isAbandoned {
            if let count = upload.take(atMost: 1 << 15, { $0.count }) {
                state.withLock { $0.uploaded += count }
            } else {
                await upload.arrived()
            }
        }
    }

    /// Returns a verdict that ends the session if the answer is a 403 with the body `banned`.
    package func verdict(in answer: ApiAnswer) -> Verdict? {
        guard answer.status == 403, answer.body == Array("banned".utf8) else { return nil }
        return Verdict(code: "400312", message: "The user is banned")
    }

    package func probe(
        _ identity: Identity?,
        mayCall: @Sendable () async -> SessionError?
    ) async -> [ProbeFinding] {
        [ProbeFinding(name: "provider", verdict: .ok, detail: "The fake provider always answers")]
    }

    // MARK: Inside

    private func waitWhileHeld(isApiCall: Bool = false) async {
        await withCheckedContinuation { continuation in
            let (waits, onHeld) = state.withLock { state in
                let waits = state.holding && state.holdsCalls == isApiCall
                if waits { state.held.append(continuation) }
                return (waits, state.onHeld)
            }
            if waits { onHeld?() } else { continuation.resume() }
        }
    }

    private func grant(_ identity: Identity, _ scheme: Scheme = .signInToken, from start: Moment) -> Grant {
        let number = state.withLock { state in
            state.issued += 1
            return state.issued
        }
        return Grant(
            identity: identity,
            scheme: scheme,
            token: Grant.Token(
                secret: SharedSecret(text: "access-\(identity.userId)-\(number)"),
                life: Life(from: start, lasting: tokenLife)
            ),
            refreshToken: SharedSecret(text: "refresh-\(identity.userId)-\(number)")
        )
    }

    private static func identity(_ user: String) -> Identity {
        Identity(userId: user, teamId: "team", environment: "sandbox", region: "us")
    }
}

extension SharedSecret {
    /// The secret as text, for comparisons in tests.
    package var text: String {
        withUnsafeBytes { String(decoding: $0, as: UTF8.self) }
    }
}
