import JunctionSecret
import JunctionSession
import Synchronization

/// The OAuth server: finds its endpoints and posts forms to them with the client's authentication.
///
/// It requests the metadata only when it needs an endpoint that the configuration does not name.
final class OAuthServer: Sendable {
    let setup: OAuthSetup
    let http: OutgoingHTTP
    let clock: any SessionClock
    private let known = Mutex<Known?>(nil)
    /// The endpoints that had another origin when they were last needed, and were not used.
    private let moved = Mutex<[OAuthEndpoint: Move]>([:])
    /// The server's clock at its last answer. The local clock may be wrong by more than the life of an assertion, and
    /// may be set in the meantime.
    private let shown = Mutex<Moment?>(nil)

    private struct Known {
        var metadata: OAuthMetadata
        var freshUntil: Uptime
    }

    /// An endpoint whose origin in the metadata differs from the one at the sign-in.
    struct Move: Sendable {
        let endpoint: OAuthEndpoint
        let from: String
        let to: String

        func detail(_ issuer: OAuthIssuer) -> String {
            "\(issuer.place) now names a \(endpoint.words) at \(to), but the sign-in used one at \(from): the daemon "
                + "sends nothing to \(to)"
        }

        var remedy: String { "if the server has moved, set oauth.\(endpoint.setting) or sign in again" }

        fileprivate func unavailability(_ issuer: OAuthIssuer) -> Unavailability {
            Unavailability("\(detail(issuer)); \(remedy)", cause: .answer, host: issuer.place)
        }
    }

    /// The reason why there is no metadata.
    enum Failure: Error, Equatable {
        /// The server has no metadata.
        case absent
        /// The server is not the configured issuer. The value is the name that it states.
        case otherIssuer(String)
        case unreachable(Unavailability)
        /// A request is not allowed now.
        case notAllowed(SessionError)
    }

    /// Shorter than usual, because a token request may follow within the same time.
    private static let patience: Duration = .seconds(5)
    private static let longestMetadata = 1 << 18

    init(setup: OAuthSetup, http: OutgoingHTTP, clock: any SessionClock) {
        self.setup = setup
        self.http = http
        self.clock = clock
    }

    // MARK: Endpoints

    /// Returns the URL of an endpoint; throws if there is none.
    ///
    /// - Parameter origins: the endpoint origins of the session; `nil` if none are fixed.
    func required(_ endpoint: OAuthEndpoint, at origins: EndpointOrigins?) async throws(Unavailability) -> HTTPURL {
        guard let url = try await optional(endpoint, at: origins) else { throw missing(endpoint) }
        return url
    }

    private func missing(_ endpoint: OAuthEndpoint) -> Unavailability {
        expireMetadata()
        return misconfigured(
            "\(setup.issuer.place) names no \(endpoint.words): set oauth.\(endpoint.setting) if the server has one"
        )
    }

    private func misconfigured(_ message: String) -> Unavailability {
        Unavailability(message, cause: .configuration, host: setup.issuer.place)
    }

    /// Returns the URL of an endpoint, or `nil` if the metadata does not name one and did not at the sign-in. If this
    /// throws, no form has been sent.
    func optional(_ endpoint: OAuthEndpoint, at origins: EndpointOrigins?) async throws(Unavailability) -> HTTPURL? {
        if let configured = setup.endpoints[endpoint] { return configured }
        guard let url = try await discovered(endpoint) else {
            // The server had this endpoint at the sign-in. The metadata may lack it only for a time.
            if origins?.names(endpoint) ?? false { throw missing(endpoint) }
            return nil
        }
        guard let fixed = origins?.origin(of: endpoint), !url.isAt(fixed) else {
            if origins != nil { moved.withLock { $0[endpoint] = nil } }
            return url
        }
        expireMetadata()
        let move = Move(endpoint: endpoint, from: fixed, to: url.origin.url)
        moved.withLock { $0[endpoint] = move }
        throw move.unavailability(setup.issuer)
    }

    private func discovered(_ endpoint: OAuthEndpoint) async throws(Unavailability) -> HTTPURL? {
        let metadata: OAuthMetadata
        do throws(Failure) {
            metadata = try await self.metadata()
        } catch {
            switch error {
            case .absent:
                throw misconfigured(
                    "\(setup.issuer.place) has no metadata where oauth.issuer points: correct oauth.issuer, or set "
                        + "oauth.\(endpoint.setting)"
                )
            case .otherIssuer(let name): throw misconfigured(setup.issuer.isCalled(name))
            case .unreachable(let why): throw why
            case .notAllowed(let refusal): throw Unavailability(refusal.message)
            }
        }
        do throws(ProviderConfigurationFault) {
            return try metadata.url(of: endpoint)
        } catch {
            expireMetadata()
            throw misconfigured(
                "\(setup.issuer.place) names a \(endpoint.words) that cannot be used: \(error.message); or set "
                    + "oauth.\(endpoint.setting)"
            )
        }
    }

    /// Marks the metadata as outdated, because it lacks an endpoint or names another origin. The next attempt requests it
    /// again, because it may be correct then.
    private func expireMetadata() {
        known.withLock { $0?.freshUntil = clock.now().uptime }
    }

    /// Returns an endpoint that is known without a request.
    func remembered(_ endpoint: OAuthEndpoint) -> HTTPURL? {
        setup.endpoints[endpoint] ?? known.withLock { $0?.metadata }.flatMap { try? $0.url(of: endpoint) }
    }

    /// Requests the metadata before a sign-in fixes its endpoint origins. This is necessary only if the configuration
    /// names this endpoint, but not both the revocation and the userinfo endpoint. If the request fails, the sign-in
    /// continues without it.
    func prepareOrigins(before endpoint: OAuthEndpoint) async {
        if setup.endpoints[endpoint] != nil, needsMetadataForOrigins { _ = try? await metadata() }
    }

    private var needsMetadataForOrigins: Bool {
        setup.endpoints[.revocation] == nil || setup.endpoints[.userinfo] == nil
    }

    /// Returns the present endpoint origins, which a sign-in fixes. Returns `nil` if they depend on metadata that has
    /// not been read yet: the daemon must not store that the server has no such endpoint before it has asked.
    ///
    /// - Parameter token: the token endpoint of this sign-in.
    func origins(token: HTTPURL) -> EndpointOrigins? {
        guard !needsMetadataForOrigins || known.withLock({ $0 != nil }) else { return nil }
        func origin(_ endpoint: OAuthEndpoint) -> String? { remembered(endpoint)?.origin.url }
        return EndpointOrigins(
            token: token.origin.url,
            deviceAuthorization: origin(.deviceAuthorization),
            revocation: origin(.revocation),
            userinfo: origin(.userinfo)
        )
    }

    /// The endpoints whose origin in the metadata differs from the one at the sign-in.
    var moves: [Move] { moved.withLock { moved in OAuthEndpoint.allCases.compactMap { moved[$0] } } }

    private func metadata() async throws(Failure) -> OAuthMetadata {
        let now = clock.now().uptime
        let known = known.withLock { $0 }
        if let known, now < known.freshUntil { return known.metadata }
        do throws(Failure) {
            return try await look()
        } catch {
            // Old metadata stays in use while the server cannot be reached, so that no renewal is late because of it.
            guard let known else { throw error }
            switch error {
            case .unreachable, .absent: break
            case .otherIssuer, .notAllowed: throw error
            }
            self.known.withLock { $0 = Known(metadata: known.metadata, freshUntil: now + Freshness.bounds.lowerBound) }
            return known.metadata
        }
    }

    /// Requests the metadata, even if it is cached.
    ///
    /// - Parameter mayCall: called before each request; returns the reason why the request is not allowed, or `nil`.
    func look(_ mayCall: @Sendable () async -> SessionError? = { nil }) async throws(Failure) -> OAuthMetadata {
        var other: String?
        var trouble: Unavailability?
        var unreadable: Unavailability?
        for place in setup.issuer.metadata {
            if let refusal = await mayCall() { throw .notAllowed(refusal) }
            let sentAt = clock.now()
            let answer = try await get(place)
            compareClocks(answer, since: sentAt)
            guard answer.isSuccess || answer.mayBeVerdict else {
                var why = answer.unavailability(now: clock.now().wall)
                why.ambiguous = false
                // After 429 no other URL is requested.
                if answer.status == 429 { throw .unreachable(why) }
                // One URL may serve a web page or an error, and the other one the metadata.
                trouble = trouble ?? why
                continue
            }
            do throws(OAuthMetadata.Fault) {
                var metadata = try OAuthMetadata(answer, of: setup.issuer)
                metadata.skew = answer.header("date").flatMap(HTTPDate.parse).map { clock.now().wall - $0 }
                let fresh = Freshness.of(answer)
                known.withLock { [metadata] in $0 = Known(metadata: metadata, freshUntil: sentAt.uptime + fresh) }
                return metadata
            } catch {
                switch error {
                case .otherIssuer(let name): other = other ?? name
                case .absent where answer.status == 404 || answer.status == 410: break
                case .absent:
                    // Such as the page of a gateway. The metadata may only be missing for a time.
                    unreadable = Unavailability(
                        "\(place.origin.place) answered without metadata (\(answer.status))",
                        cause: .answer,
                        host: place.origin.place
                    )
                }
            }
        }
        if let trouble { throw .unreachable(trouble) }
        if let other { throw .otherIssuer(other) }
        if let unreadable { throw .unreachable(unreadable) }
        throw .absent
    }

    private func get(_ place: HTTPURL) async throws(Failure) -> HTTPAnswer {
        let call = HTTPCall(
            method: "GET",
            origin: place.origin,
            target: place.target,
            headers: [("accept", "application/json")],
            longestAnswer: Self.longestMetadata,
            patience: Self.patience
        )
        do throws(Unavailability) {
            return try await http.answer(to: call)
        } catch {
            // The request held nothing that can be spent, so its outcome does not matter.
            var failure = error
            (failure.ambiguous, failure.sentAgo) = (false, nil)
            throw .unreachable(failure)
        }
    }

    // MARK: Forms

    /// Posts one form with the client's authentication, without a retry.
    ///
    /// - Parameter sendDeadline: the time by which the form must leave, if there is one.
    func post(
        _ fields: [FormBody.Field],
        to endpoint: HTTPURL,
        patience: Duration = HTTPCall.tokenResponseTimeout,
        sendingBy sendDeadline: Uptime? = nil
    ) async throws(Unavailability) -> (answer: HTTPAnswer, sentAt: Moment) {
        let sentAt = clock.now()
        var call = call(fields, to: endpoint, patience, at: sentAt)
        call.sendDeadline = sendDeadline.map { $0 - sentAt.uptime }
        let answer = try await http.answer(to: call)
        compareClocks(answer, since: sentAt)
        return (answer, sentAt)
    }

    private func compareClocks(_ answer: HTTPAnswer, since sentAt: Moment) {
        guard answer.header("date") != nil else { return }
        let now = clock.now()
        let skew = ServerClock(answer, sentAt: sentAt.read(by: now).wall, receivedAt: now.wall).skew
        shown.withLock { $0 = Moment(wall: now.wall + skew, uptime: now.uptime) }
    }

    private func call(
        _ fields: [FormBody.Field],
        to endpoint: HTTPURL,
        _ patience: Duration,
        at now: Moment
    ) -> HTTPCall {
        let proof = setup.client.authentication(
            at: endpoint,
            of: setup.issuer,
            now: (shown.withLock { $0 } ?? now).wall(at: now.uptime).milliseconds / 1_000
        )
        return HTTPCall(
            method: "POST",
            origin: endpoint.origin,
            target: endpoint.target,
            headers: [("content-type", FormBody.contentType), ("accept", "application/json")],
            credentials: proof.credentials,
            body: .secret(FormBody(fields + proof.fields).encoded),
            patience: patience
        )
    }
}

extension OAuthIssuer {
    /// Returns the message for a server that states another issuer.
    func isCalled(_ name: String) -> String {
        "The server at \(place) calls itself \(name), and oauth.issuer is \(text): set it to what the server says, to the "
            + "letter"
    }
}

extension HTTPURL {
    fileprivate func isAt(_ origin: String) -> Bool { self.origin.url.hasSameBytes(as: origin) }
}
