import JunctionSecret
import JunctionSession
import JunctionTesting
import Testing

@testable import JunctionProviders

/// A session's secrets are sent only to the endpoint origins of its sign-in.
struct OAuthOriginTests {
    /// An origin without a listener.
    private static let elsewhere = "http://127.0.0.1:1"
    private static let moved = "at \(elsewhere), but the sign-in used one at"

    private static func metadata(
        _ url: String,
        token: String? = nil,
        device: String? = nil,
        revocation: String? = nil,
        userinfo: String? = nil
    ) -> String {
        let members = [
            ("device_authorization_endpoint", device), ("revocation_endpoint", revocation),
            ("userinfo_endpoint", userinfo),
        ].map { name, place in place.map { #","\#(name)":"\#($0)""# } ?? "" }
        return #"{"issuer":"\#(url)","token_endpoint":"\#(token ?? url + "/token")"\#(members.joined())}"#
    }

    private static func play(
        _ settings: [String: ProviderSetting.Value] = [:],
        answering steps: (_ url: String) -> [ScriptedServer.Step],
        _ test: (Stage, OAuthProvider, _ session: OAuthSession) async throws -> Void
    ) async throws {
        try await Stage.play([]) { stage in
            let url = stage.server.url
            stage.server.script(steps(url))
            try await test(stage, stage.discovering(settings), OAuthSession(url))
        }
    }

    /// A session of the server at a URL, which had all endpoints there.
    private struct OAuthSession {
        let identity: Identity
        var secrets: SessionSecrets

        init(_ url: String) {
            identity = Identity(userId: "user-1", issuer: url)
            secrets = OAuthSample.secrets
            secrets.endpointOrigins = EndpointOrigins(token: url)
        }
    }

    private static func lines(_ stage: Stage) -> [Substring] { stage.server.requests.map { $0.line.prefix(4) } }

    // MARK: Fixing the origins

    @Test func `a sign-in fixes the endpoint origins`() async throws {
        let steps = { (url: String) in
            let idToken = OAuthSample.idToken(OAuthSample.claims(iss: url))
            let metadata = Self.metadata(url, device: url + "/device", revocation: "http://localhost:1/revoke")
            return [.json(200, metadata), .tokens(OAuthSample.answer(idToken: idToken))] as [ScriptedServer.Step]
        }
        try await Self.play(answering: steps) { stage, oauth, _ in
            let grant = try await oauth.exchange(OAuthSample.code, expecting: nil)

            let url = stage.server.url
            let expected = EndpointOrigins(token: url, deviceAuthorization: url, revocation: "http://localhost:1")
            #expect(grant.endpointOrigins == expected)
        }
    }

    @Test func `a session of an earlier release is fixed at its first renewal`() async throws {
        let steps = { (url: String) in
            [.json(200, Self.metadata(url)), .tokens(OAuthSample.anonymous)] as [ScriptedServer.Step]
        }
        try await Self.play(answering: steps) { stage, oauth, session in
            var secrets = session.secrets
            secrets.endpointOrigins = nil
            let grant = try await oauth.renew(session.identity, with: secrets, using: .renew)

            #expect(grant.endpointOrigins == EndpointOrigins(token: stage.server.url))
        }
    }

    /// As at Google, where each of these endpoints has its own origin.
    private static func scattered(_ url: String, _ other: String) -> ScriptedServer.Step {
        .json(200, metadata(url, revocation: other + "/revoke", userinfo: other + "/userinfo"))
    }

    @Test func `a sign-in with a configured token endpoint fixes the other origins from the metadata`()
        async throws
    {
        try await Stage.play([]) { stage in
            let url = stage.server.url
            let other = url.replacing("127.0.0.1", with: "localhost")
            stage.server.script([
                Self.scattered(url, other), .tokens(OAuthSample.anonymous), .json(200, #"{"sub":"user-1"}"#),
            ])
            let oauth = try stage.discovering(["tokenEndpoint": .text(url + "/token")])
            let grant = try await oauth.exchange(OAuthSample.code, expecting: nil)

            #expect(grant.endpointOrigins == EndpointOrigins(token: url, revocation: other, userinfo: other))
            #expect(Self.lines(stage) == ["GET ", "POST", "GET "])
        }
    }

    @Test func `the codes of a device sign-in fix the endpoint origins`() async throws {
        try await Stage.play([]) { stage in
            let url = stage.server.url
            let other = url.replacing("127.0.0.1", with: "localhost")
            stage.server.script([
                Self.scattered(url, other),
                .json(
                    200,
                    #"{"device_code":"d","user_code":"U","verification_uri":"https://id.example.com","expires_in":600}"#
                ),
            ])
            let oauth = try stage.discovering([
                "tokenEndpoint": .text(url + "/token"), "deviceAuthorizationEndpoint": .text(url + "/device"),
            ])
            let begun = try await oauth.requestDeviceAuthorization(.device)

            let expected = EndpointOrigins(token: url, deviceAuthorization: url, revocation: other, userinfo: other)
            #expect(begun.codes.endpointOrigins == expected)
        }
    }

    @Test func `metadata that is missing at the sign-in fixes nothing, and later metadata is followed`() async throws {
        try await Stage.play([]) { stage in
            let url = stage.server.url
            let other = url.replacing("127.0.0.1", with: "localhost")
            stage.server.script([
                .answer(503, [], ""), .answer(503, [], ""), .tokens(OAuthSample.anonymous), Self.scattered(url, other),
                .json(200, #"{"sub":"user-1"}"#),
            ])
            let oauth = try stage.discovering(["tokenEndpoint": .text(url + "/token")])
            let grant = try await oauth.exchange(OAuthSample.code, expecting: nil)

            #expect(grant.endpointOrigins == EndpointOrigins(token: url, revocation: other, userinfo: other))
        }
    }

    // MARK: Moved endpoints

    @Test func `no refresh token is sent to a token endpoint at another origin, and the message has a remedy`()
        async throws
    {
        let steps = { (url: String) in
            [.json(200, Self.metadata(url, token: Self.elsewhere + "/token"))] as [ScriptedServer.Step]
        }
        try await Self.play(answering: steps) { stage, oauth, session in
            let why = try #require(await oauth.renewalFailure(session.secrets, session.identity)?.unavailability)

            #expect(!why.ambiguous)
            #expect(why.message.contains("now names a token endpoint \(Self.moved) \(stage.server.url)"))
            #expect(why.message.hasSuffix("if the server has moved, set oauth.tokenEndpoint or sign in again"))
            #expect(Self.lines(stage) == ["GET "])
        }
    }

    @Test func `metadata with a moved endpoint is not cached, and the next attempt requests it again`() async throws {
        let steps = { (url: String) in
            [
                .answer(
                    200,
                    [("cache-control", "max-age=86400")],
                    Self.metadata(url, token: Self.elsewhere + "/token")
                ),
                .json(200, Self.metadata(url)), .tokens(OAuthSample.anonymous),
            ] as [ScriptedServer.Step]
        }
        try await Self.play(answering: steps) { stage, oauth, session in
            _ = await oauth.renewalFailure(session.secrets, session.identity)
            let grant = try await oauth.renew(session.identity, with: session.secrets, using: .renew)

            #expect(grant.token != nil)
            #expect(Self.lines(stage) == ["GET ", "GET ", "POST"])
        }
    }

    @Test func `no revocation is sent to an endpoint that the sign-in did not know`() async throws {
        let steps = { (url: String) in
            [.json(200, Self.metadata(url, revocation: Self.elsewhere + "/revoke"))] as [ScriptedServer.Step]
        }
        try await Self.play(answering: steps) { stage, oauth, session in
            await #expect(throws: Unavailability.self) {
                try await oauth.revoke(session.identity, with: session.secrets)
            }
            #expect(Self.lines(stage) == ["GET "])
        }
    }

    @Test func `a revocation is sent to a new endpoint at the token endpoint's own origin`() async throws {
        let steps = { (url: String) in
            [.json(200, Self.metadata(url, revocation: url + "/revoke")), .answer(200, [], "")] as [ScriptedServer.Step]
        }
        try await Self.play(answering: steps) { stage, oauth, session in
            try await oauth.revoke(session.identity, with: session.secrets)

            #expect(Self.lines(stage) == ["GET ", "POST"])
        }
    }

    // MARK: Endpoints that the metadata no longer names

    @Test func `a revocation is not over while the metadata lacks the endpoint that the sign-in knew`() async throws {
        let steps = { (url: String) in
            [
                .answer(200, [("cache-control", "max-age=86400")], Self.metadata(url)),
                .json(200, Self.metadata(url, revocation: url + "/revoke")), .answer(200, [], ""),
            ] as [ScriptedServer.Step]
        }
        try await Self.play(answering: steps) { stage, oauth, session in
            var secrets = session.secrets
            secrets.endpointOrigins?.revocation = stage.server.url
            await #expect(throws: Unavailability.self) { try await oauth.revoke(session.identity, with: secrets) }
            try await oauth.revoke(session.identity, with: secrets)

            #expect(Self.lines(stage) == ["GET ", "GET ", "POST"])
        }
    }

    @Test func `kept tokens wait while the metadata lacks the userinfo endpoint that the sign-in knew`() async throws {
        try await Stage.play([]) { stage in
            let url = stage.server.url
            let whole = Self.metadata(url, userinfo: url + "/userinfo")
            stage.server.script([
                .json(200, whole), .tokens(OAuthSample.anonymous), .answer(503, [], ""),
                .json(200, Self.metadata(url)), .json(200, whole), .json(200, #"{"sub":"user-1"}"#),
            ])
            let kept = KeptGrant()
            _ = try? await stage.discovering().exchange(OAuthSample.code, expecting: nil, store: kept.store)

            // After a restart, the metadata has a gap.
            let oauth = try stage.discovering()
            let failure = await thrown { () throws(ExchangeFailure) in
                try await oauth.exchange(OAuthSample.code, expecting: nil, store: kept.store)
            }
            guard case .unavailable? = failure else {
                Issue.record("\(String(describing: failure))")
                return
            }
            let grant = try await oauth.exchange(OAuthSample.code, expecting: nil, store: kept.store)

            #expect(grant.refreshToken?.text == "refresh-1")
        }
    }

    @Test func `a subject token and the resulting access token are not sent to another origin either`() async throws {
        let steps = { (url: String) in
            [
                .json(200, Self.metadata(url, userinfo: Self.elsewhere + "/userinfo")), .tokens(OAuthSample.anonymous),
            ] as [ScriptedServer.Step]
        }
        try await Self.play(answering: steps) { stage, oauth, session in
            var secrets = session.secrets
            (secrets.refreshToken, secrets.subjectTokenType) = (nil, "urn:ietf:params:oauth:token-type:jwt")
            let failure = await oauth.renewalFailure(
                secrets,
                session.identity,
                using: .authToken(SharedSecret(text: "subject"))
            )

            let why = try #require(failure?.unavailability)
            #expect(why.message.contains("now names a userinfo endpoint"))
            #expect(Self.lines(stage).filter { $0 == "POST" }.count == 1)
        }
    }

    @Test func `a device code is polled at the origin that issued it`() async throws {
        let codes = #"{"device_code":"d","user_code":"u","verification_uri":"https://id.example.com","expires_in":600}"#
        let steps = { (url: String) in
            [
                .answer(200, [("cache-control", "no-store")], Self.metadata(url, device: url + "/device")),
                .json(200, codes), .json(200, Self.metadata(url, token: Self.elsewhere + "/token")),
            ] as [ScriptedServer.Step]
        }
        try await Self.play(answering: steps) { stage, oauth, _ in
            let begun = try await oauth.requestDeviceAuthorization(.device)
            stage.clock.advance(by: .seconds(301))
            let failure = await oauth.pollFailure(begun.codes)

            let why = try #require(failure?.unavailability)
            #expect(why.message.contains("now names a token endpoint"))
            #expect(Self.lines(stage) == ["GET ", "POST", "GET "])
        }
    }

    // MARK: Remedies

    @Test func `a configured endpoint is used at any origin`() async throws {
        let steps = { (url: String) in [.tokens(OAuthSample.anonymous)] as [ScriptedServer.Step] }
        try await Stage.play([]) { stage in
            stage.server.script(steps(stage.server.url))
            var session = OAuthSession(stage.server.url)
            session.secrets.endpointOrigins = EndpointOrigins(token: Self.elsewhere)
            let oauth = try stage.discovering(["tokenEndpoint": .text(stage.server.url + "/token")])

            let grant = try await oauth.renew(session.identity, with: session.secrets, using: .renew)
            #expect(grant.token != nil)
        }
    }

    @Test func `doctor reports a move until the endpoint is back`() async throws {
        let steps = { (url: String) in
            let moved = Self.metadata(url, token: Self.elsewhere + "/token")
            return [
                .json(200, moved), .json(200, moved), .json(200, Self.metadata(url)), .tokens(OAuthSample.anonymous),
                .json(200, Self.metadata(url)),
            ] as [ScriptedServer.Step]
        }
        try await Self.play(answering: steps) { stage, oauth, session in
            _ = await oauth.renewalFailure(session.secrets, session.identity)
            let before = await oauth.probe(session.identity) { nil }.filter { $0.name == "provider endpoints" }
            stage.clock.advance(by: .seconds(3_601))
            _ = try await oauth.renew(session.identity, with: session.secrets, using: .renew)
            let after = await oauth.probe(session.identity) { nil }.filter { $0.name == "provider endpoints" }

            #expect(before.map(\.verdict) == [.problem])
            #expect(before.first?.detail.contains(Self.elsewhere) == true)
            #expect(before.first?.remedy == "If the server has moved, set oauth.tokenEndpoint or sign in again")
            #expect(after.isEmpty)
        }
    }

    // MARK: The metadata document

    @Test func `a server on the network cannot name an endpoint on loopback`() throws {
        let body = #"{"issuer":"https://id.example.com","token_endpoint":"http://127.0.0.1:8080/token"}"#
        let answer = HTTPAnswer(status: 200, headers: [], body: SharedSecret(text: body), place: "id.example.com")
        let metadata = try OAuthMetadata(answer, of: try OAuthIssuer("https://id.example.com"))

        let fault = #expect(throws: ProviderConfigurationFault.self) { try metadata.url(of: .token) }
        #expect(fault?.message.contains("http://127.0.0.1:8080 is not encrypted") == true)
    }

    @Test(arguments: [("max-age=86400", 3_600), ("max-age=31536000", 3_600), ("max-age=900", 900), ("no-store", 300)])
    func `metadata is cached for one hour at most`(header: String, seconds: Int) {
        let answer = HTTPAnswer(
            status: 200,
            headers: [("cache-control", header)],
            body: SharedSecret(text: "{}"),
            place: "id.example.com"
        )

        #expect(Freshness.of(answer) == .seconds(seconds))
    }

    @Test func `a host name is not longer than DNS allows`() {
        let long = Array(repeating: String(repeating: "a", count: 63), count: 4).joined(separator: ".")

        #expect(throws: ProviderConfigurationFault.self) { try HTTPURL("https://\(long)/token") }
        #expect(throws: Never.self) { try HTTPURL("https://\(long.dropFirst(2))/token") }
    }
}
