import JunctionSecret
import JunctionSession
import Synchronization

/// The server: where its endpoints are, and forms posted to them in the client's name.
///
/// Its metadata is asked for when an endpoint is needed that the configuration does not name, and not before.
final class OAuthServer: Sendable {
    let setup: OAuthSetup
    let http: OutgoingHttp
    let clock: any SessionClock
    private let known = Mutex<Known?>(nil)
    /// What was not followed when it was last needed.
    private let moved = Mutex<[OAuthEndpoint: Move]>([:])
    /// What the server's clock showed at its last answer: a device's own may be wrong by more than an assertion lives, and may
    /// be set meanwhile.
    private let shown = Mutex<Moment?>(nil)

    private struct Known {
        var metadata: OAuthMetadata
        var freshUntil: Uptime
    }

    /// An endpoint that the metadata names at another origin than at the sign-in.
    struct Move: Sendable {
        let endpoint: OAuthEndpoint
        let from: String
        let to: String

        func detail(_ issuer: OAuthIssuer) -> String {
            "\(issuer.place) now names a \(endpoint.words) at \(to), and the session was signed in with one at \(from): nothing "
                + "is sent there"
        }

        var remedy: String { "if the server has moved, set oauth.\(endpoint.setting) or sign in again" }

        fileprivate func unavailability(_ issuer: OAuthIssuer) -> Unavailability {
            Unavailability("\(detail(issuer)); \(remedy)", cause: .answer, host: issuer.place)
        }
    }

    /// Why there is no metadata.
    enum Failure: Error, Equatable {
        /// The server has none.
        case absent
        /// It is not the server that the configuration means: what it calls itself.
        case otherIssuer(String)
        case unreachable(Unavailability)
        /// It may not be asked now.
        case notAllowed(SessionError)
    }

    /// Metadata is small, and a token request may follow it: there has to be time for both.
    private static let patience: Duration = .seconds(5)
    private static let longestMetadata = 1 << 18

    init(setup: OAuthSetup, http: OutgoingHttp, clock: any SessionClock) {
        self.setup = setup
        self.http = http
        self.clock = clock
    }

    // MARK: Endpoints

    /// An endpoint without which nothing goes on.
    ///
    /// - Parameter origins: where the secret that is to be sent may go; `nil` where nothing is fixed.
    func required(_ endpoint: OAuthEndpoint, at origins: EndpointOrigins?) async throws(Unavailability) -> HttpUrl {
        guard let url = try await optional(endpoint, at: origins) else {
            throw misconfigured(missing(endpoint))
        }
        return url
    }

    private func missing(_ endpoint: OAuthEndpoint) -> String {
        "\(setup.issuer.place) tells of no \(endpoint.words): set oauth.\(endpoint.setting) if the server has one"
    }

    private func misconfigured(_ message: String) -> Unavailability {
        Unavailability(message, cause: .configuration, host: setup.issuer.place)
    }

    /// An endpoint that a server need not have: nothing where its metadata is without it. Whatever fails here, no form has
    /// left.
    func optional(_ endpoint: OAuthEndpoint, at origins: EndpointOrigins?) async throws(Unavailability) -> HttpUrl? {
        if let configured = setup.endpoints[endpoint] { return configured }
        guard let url = try await discovered(endpoint) else { return nil }
        guard let fixed = origins?.origin(of: endpoint), !url.isAt(fixed) else {
            if origins != nil { moved.withLock { $0[endpoint] = nil } }
            return url
        }
        // What is not followed is not kept either: the next attempt asks again.
        known.withLock { $0?.freshUntil = clock.now().uptime }
        let move = Move(endpoint: endpoint, from: fixed, to: url.origin.url)
        moved.withLock { $0[endpoint] = move }
        throw move.unavailability(setup.issuer)
    }

    private func discovered(_ endpoint: OAuthEndpoint) async throws(Unavailability) -> HttpUrl? {
        let metadata: OAuthMetadata
        do throws(Failure) {
            metadata = try await self.metadata()
        } catch {
            switch error {
            // Nobody can tell a server without metadata from one whose metadata is away for a moment.
            case .absent: throw Unavailability(missing(endpoint), cause: .answer, host: setup.issuer.place)
            case .otherIssuer(let name): throw misconfigured(setup.issuer.isCalled(name))
            case .unreachable(let why): throw why
            case .notAllowed(let refusal): throw Unavailability(refusal.message)
            }
        }
        do throws(ProviderConfigurationFault) {
            return try metadata.url(of: endpoint)
        } catch {
            throw misconfigured(
                "\(setup.issuer.place) names a \(endpoint.words) that cannot be used: \(error.message); or set "
                    + "oauth.\(endpoint.setting)"
            )
        }
    }

    /// An endpoint that is known without a request, and where the secret may go.
    func remembered(_ endpoint: OAuthEndpoint, at origins: EndpointOrigins? = nil) -> HttpUrl? {
        if let configured = setup.endpoints[endpoint] { return configured }
        guard let url = known.withLock({ $0?.metadata }).flatMap({ try? $0.url(of: endpoint) }) else { return nil }
        guard let fixed = origins?.origin(of: endpoint) else { return url }
        return url.isAt(fixed) ? url : nil
    }

    /// Asks for the metadata before a sign-in fixes its endpoints, where the next request alone would not: the configuration
    /// names its endpoint, and not all the others. A sign-in goes on without it if it cannot be had.
    func prepareOrigins(before endpoint: OAuthEndpoint) async {
        if setup.endpoints[endpoint] != nil, needsMetadataForOrigins { _ = try? await metadata() }
    }

    private var needsMetadataForOrigins: Bool {
        setup.endpoints[.revocation] == nil || setup.endpoints[.userinfo] == nil
    }

    /// Where the endpoints are now: what a sign-in fixes. Nothing while the metadata has not been read that tells of them: a
    /// server that has not been asked has not said that it has none.
    ///
    /// - Parameter token: the token endpoint, which has just granted something or is about to be asked.
    func origins(token: HttpUrl) -> EndpointOrigins? {
        guard !needsMetadataForOrigins || known.withLock({ $0 != nil }) else { return nil }
        func origin(_ endpoint: OAuthEndpoint) -> String? { remembered(endpoint)?.origin.url }
        return EndpointOrigins(
            token: token.origin.url,
            deviceAuthorization: origin(.deviceAuthorization),
            revocation: origin(.revocation),
            userinfo: origin(.userinfo)
        )
    }

    /// The endpoints that the metadata names elsewhere than at the sign-in.
    var moves: [Move] { moved.withLock { moved in OAuthEndpoint.allCases.compactMap { moved[$0] } } }

    private func metadata() async throws(Failure) -> OAuthMetadata {
        let now = clock.now().uptime
        let known = known.withLock { $0 }
        if let known, now < known.freshUntil { return known.metadata }
        do throws(Failure) {
            return try await look()
        } catch {
            // Where it was is where it is: no renewal is late because the metadata cannot be had for a while.
            guard let known else { throw error }
            switch error {
            case .unreachable, .absent: break
            case .otherIssuer, .notAllowed: throw error
            }
            self.known.withLock { $0 = Known(metadata: known.metadata, freshUntil: now + Freshness.bounds.lowerBound) }
            return known.metadata
        }
    }

    /// Asks the server for its metadata, whatever is known already.
    ///
    /// - Parameter mayCall: asked before each request leaves; says why it may not, if so.
    func look(_ mayCall: @Sendable () async -> SessionError? = { nil }) async throws(Failure) -> OAuthMetadata {
        var other: String?
        var trouble: Unavailability?
        for place in setup.issuer.metadata {
            if let refusal = await mayCall() { throw .notAllowed(refusal) }
            let sentAt = clock.now()
            let answer = try await get(place)
            compareClocks(answer, since: sentAt)
            guard answer.isSuccess || answer.mayBeVerdict else {
                var why = answer.unavailability(now: clock.now().wall)
                why.ambiguous = false
                // Who asks to wait is asked for nothing else.
                if answer.status == 429 { throw .unreachable(why) }
                // A page for people may stand at one place, or nothing that works, and the metadata at the other.
                trouble = trouble ?? why
                continue
            }
            do throws(OAuthMetadata.Fault) {
                var metadata = try OAuthMetadata(answer, of: setup.issuer)
                metadata.skew = answer.header("date").flatMap(HttpDate.parse).map { clock.now().wall - $0 }
                let fresh = Freshness.of(answer)
                known.withLock { [metadata] in $0 = Known(metadata: metadata, freshUntil: sentAt.uptime + fresh) }
                return metadata
            } catch {
                if case .otherIssuer(let name) = error { other = other ?? name }
            }
        }
        if let trouble { throw .unreachable(trouble) }
        guard let other else { throw .absent }
        throw .otherIssuer(other)
    }

    private func get(_ place: HttpUrl) async throws(Failure) -> HttpAnswer {
        let call = HttpCall(
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
            // The request held nothing that the server could spend.
            var failure = error
            (failure.ambiguous, failure.sentAgo) = (false, nil)
            throw .unreachable(failure)
        }
    }

    // MARK: Forms

    /// Posts one form with the client's authentication: one answer, nothing tried twice.
    ///
    /// - Parameter sendDeadline: by when it has to leave, if so.
    func post(
        _ fields: [FormBody.Field],
        to endpoint: HttpUrl,
        patience: Duration = HttpCall.tokenPatience,
        sendingBy sendDeadline: Uptime? = nil
    ) async throws(Unavailability) -> (answer: HttpAnswer, sentAt: Moment) {
        let sentAt = clock.now()
        var call = call(fields, to: endpoint, patience, at: sentAt)
        call.sendDeadline = sendDeadline.map { $0 - sentAt.uptime }
        let answer = try await http.answer(to: call)
        compareClocks(answer, since: sentAt)
        return (answer, sentAt)
    }

    private func compareClocks(_ answer: HttpAnswer, since sentAt: Moment) {
        guard answer.header("date") != nil else { return }
        let now = clock.now()
        let skew = ServerClock(answer, sentAt: sentAt.read(by: now).wall, receivedAt: now.wall).skew
        shown.withLock { $0 = Moment(wall: now.wall + skew, uptime: now.uptime) }
    }

    /// The same, without waiting for what comes of it: that is called on an event loop.
    func send(
        _ fields: [FormBody.Field],
        to endpoint: HttpUrl,
        patience: Duration,
        then: @escaping @Sendable (HttpAnswer?) -> Void
    ) {
        http.send(call(fields, to: endpoint, patience, at: clock.now()), then: then)
    }

    private func call(
        _ fields: [FormBody.Field],
        to endpoint: HttpUrl,
        _ patience: Duration,
        at now: Moment
    ) -> HttpCall {
        let proof = setup.client.authentication(
            at: endpoint,
            of: setup.issuer,
            now: (shown.withLock { $0 } ?? now).wall(at: now.uptime).milliseconds / 1_000
        )
        return HttpCall(
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
    /// What it means that the server calls itself otherwise, and what to do.
    func isCalled(_ name: String) -> String {
        "The server at \(place) calls itself \(name), and oauth.issuer is \(text): set it to what the server says, to the "
            + "letter"
    }
}

extension HttpUrl {
    fileprivate func isAt(_ origin: String) -> Bool { self.origin.url.hasSameBytes(as: origin) }
}
