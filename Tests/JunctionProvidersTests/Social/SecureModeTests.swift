import JunctionSecret
import JunctionSession
import JunctionTesting
import Testing

@testable import JunctionProviders

/// What a refusal with 400100 says, for a deleted user and for a missing auth token.
struct SecureModeTests {
    private static let refused = ScriptedServer.Step.json(401, #"{"status":"error","code":400100}"#)
    private static let isDeleted =
        "social.plus refused the user (400100): it has taken users without an auth token, so it has most likely deleted "
        + "this one: sign in another user"
    private static let isUnknown =
        "social.plus refused the user (400100): it has deleted the user, or secure mode is on: then sign in with an auth "
        + "token from your server"

    private let memory = InMemoryProviderMemory()

    /// A provider of a new process.
    private func started(_ stage: Stage, apiKey: String = SocialProvider.sampleKey) throws -> SocialProvider {
        try .sample(url: stage.server.url, apiKey: apiKey, http: stage.http, clock: stage.clock, remembering: memory)
    }

    /// Returns the reason of a refusal, or `nil`.
    private func signIn(_ userId: String, _ authToken: String? = nil, at social: SocialProvider) async -> String? {
        let token = authToken.map { SharedSecret(text: $0) }
        let failure = await social.exchangeFailure(.userLogin(userId: userId, displayName: nil, authToken: token))
        return failure.map { $0.refusal ?? "\($0)" }
    }

    private func renewal(at social: SocialProvider, tokenLeft left: Duration? = nil) async -> RenewalFailure? {
        var secrets = SessionSecrets(accessToken: left.map { _ in SharedSecret(text: "access-secret") })
        secrets.accessTokenEndsAt = left.map { social.clock.now().uptime + $0 }
        return await social.renewalFailure(Identity(userId: "anna"), with: secrets)
    }

    @Test func `before any login the message names both causes`() async throws {
        try await Stage.play([Self.refused]) { stage in
            let social = try started(stage)

            #expect(await signIn("anna", at: social) == Self.isUnknown)
        }
    }

    @Test func `after a login without an auth token the message names the deletion only, also after a restart`()
        async throws
    {
        try await Stage.play([.social(), Self.refused, Self.refused]) { stage in
            let social = try started(stage)
            #expect(await signIn("anna", at: social) == nil)

            #expect(await signIn("anna", at: social) == Self.isDeleted)
            #expect(try await signIn("bert", at: started(stage)) == Self.isDeleted)
        }
    }

    @Test func `after two users were refused in turn, the message names both causes again`() async throws {
        try await Stage.play([.social(), Self.refused, Self.refused, Self.refused]) { stage in
            let social = try started(stage)
            #expect(await signIn("anna", at: social) == nil)

            #expect(await signIn("anna", at: social) == Self.isDeleted)
            #expect(await signIn("bert", at: social) == Self.isUnknown)
            #expect(try await signIn("bert", at: started(stage)) == Self.isUnknown)
        }
    }

    @Test func `a renewal without an auth token counts as a login`() async throws {
        try await Stage.play([.social(), Self.refused]) { stage in
            let failure = try await renewal(at: started(stage))
            let restarted = try started(stage)

            #expect(failure == nil)
            #expect(await signIn("bert", at: restarted) == Self.isDeleted)
        }
    }

    @Test func `a login with an auth token says nothing about secure mode`() async throws {
        try await Stage.play([.social(), Self.refused]) { stage in
            let social = try started(stage)
            #expect(await signIn("anna", "tok-1", at: social) == nil)

            #expect(await signIn("bert", at: social) == Self.isUnknown)
        }
    }

    @Test func `what was learned holds for the network of its API key and host only`() async throws {
        try await Stage.play([.social(), Self.refused, Self.refused]) { stage in
            #expect(try await signIn("anna", at: started(stage)) == nil)

            #expect(try await signIn("anna", at: started(stage, apiKey: "another-key")) == Self.isUnknown)
            let elsewhere = try SocialProvider.sample(
                url: stage.server.url.replacing("127.0.0.1", with: "localhost"),
                http: stage.http,
                clock: stage.clock,
                remembering: memory
            )
            #expect(await signIn("anna", at: elsewhere) == Self.isUnknown)
        }
    }

    @Test func `a user who signs in only with an auth token shows that secure mode is on`() async throws {
        try await Stage.play([.social(), Self.refused, .social(), Self.refused]) { stage in
            let social = try started(stage)
            #expect(await signIn("anna", at: social) == nil)
            #expect(await signIn("anna", at: social) == Self.isDeleted)

            #expect(await signIn("anna", "tok-1", at: social) == nil)

            #expect(try await signIn("anna", at: started(stage)) == Self.isUnknown)
        }
    }

    @Test func `another user who signs in with an auth token shows nothing`() async throws {
        try await Stage.play([.social(), Self.refused, .social(), Self.refused]) { stage in
            let social = try started(stage)
            #expect(await signIn("anna", at: social) == nil)
            #expect(await signIn("bert", at: social) == Self.isDeleted)

            #expect(await signIn("anna", "tok-1", at: social) == nil)

            #expect(await signIn("bert", at: social) == Self.isDeleted)
        }
    }

    @Test func `an active user whose renewal is refused shows that secure mode is on`() async throws {
        let user = ScriptedServer.Step.json(200, #"{"users":[{"userId":"anna","isDeleted":false}]}"#)
        try await Stage.play([.social(), Self.refused, user, Self.refused]) { stage in
            let social = try started(stage)
            #expect(await signIn("anna", at: social) == nil)

            #expect(await renewal(at: social, tokenLeft: .seconds(60))?.refusal != nil)

            #expect(await signIn("bert", at: social) == Self.isUnknown)
        }
    }

    @Test(arguments: [nil, Duration.seconds(60)])
    func `the end of a session names the auth token only if social.plus has never taken a user without one`(
        left: Duration?
    ) async throws {
        let refusals = Array(repeating: Self.refused, count: left == nil ? 1 : 2)
        try await Stage.play(refusals + [.social()] + refusals) { stage in
            let unknown = try await renewal(at: started(stage), tokenLeft: left)
            #expect(try await signIn("anna", at: started(stage)) == nil)
            let known = try await renewal(at: started(stage), tokenLeft: left)

            let both = "social.plus no longer accepts this user: deleted, or an auth token is needed now"
            let one = "social.plus has taken users without an auth token, so it has most likely deleted this one"
            #expect(unknown == .terminated(code: "400100", message: both))
            #expect(known == .terminated(code: "400100", message: one))
        }
    }
}
