import JunctionSecret
import JunctionSession
import Testing

@testable import JunctionProviders

struct SocialExchangeTests {
    @Test func `a login is one JSON text with the API key in its header`() async throws {
        try await Stage.play([.social()]) { stage in
            let credential = Credential.userLogin(
                userId: "anna",
                displayName: #"Anna "Ä""#,
                authToken: SharedSecret(text: "tok-1")
            )
            let grant = try await stage.social.exchange(credential, expecting: nil)

            let request = try #require(stage.server.requests.first)
            #expect(request.line == "POST /api/v5/sessions HTTP/1.1")
            #expect(request.header("x-api-key") == SocialProvider.sampleKey)
            #expect(request.header("content-type") == "application/json")
            #expect(request.header("authorization") == nil)
            #expect(
                request.body
                    == #"{"userId":"anna","deviceId":"device-1","displayName":"Anna \"Ä\"","authToken":"tok-1","#
                    + #""deviceInfo":{"kind":"linux","model":"junctiond","sdkVersion":"0.0"}}"#
            )
            #expect(grant.identity == Identity(userId: "anna"))
            #expect(grant.scheme == .userLogin)
            #expect(grant.token?.secret?.text == "access-1")
            #expect(grant.refreshToken == nil && grant.apiKey == nil)
        }
    }

    @Test func `absent members are not sent`() async throws {
        try await Stage.play([.social()]) { stage in
            _ = try await stage.social.exchange(login("anna"), expecting: nil)

            #expect(
                stage.server.requests.first?.body == #"{"userId":"anna","deviceId":"device-1","#
                    + #""deviceInfo":{"kind":"linux","model":"junctiond","sdkVersion":"0.0"}}"#
            )
        }
    }

    @Test func `a login sends the user id unchanged`() async throws {
        try await Stage.play([.social(users: #"[{"userId":"Anna.B"}]"#)]) { stage in
            let grant = try await stage.social.exchange(login("Anna.B"), expecting: Identity(userId: "Anna.B"))

            #expect(stage.server.requests.first?.body.hasPrefix(#"{"userId":"Anna.B","#) == true)
            #expect(grant.identity.userId == "Anna.B")
        }
    }

    @Test(arguments: [
        "", String(repeating: "a", count: 51), "an\nna", "an\u{0}na", "an\u{7F}na", "\u{2028}", "\u{E000}",
    ])
    func `a user id that the provider would not accept is malformed`(userId: String) async throws {
        try await refuse(login(userId), "The user id must have 1 to 50 printable characters")
    }

    @Test(arguments: ["", String(repeating: "a", count: 101), "Anna\u{1B}[2J"])
    func `a display name that the provider would not accept is malformed`(name: String) async throws {
        try await refuse(
            .userLogin(userId: "anna", displayName: name, authToken: nil),
            "The display name must have 1 to 100 printable characters"
        )
    }

    @Test(arguments: ["", String(repeating: "t", count: 101), "two words", "line\n"])
    func `an auth token that cannot be one of the provider is malformed`(token: String) async throws {
        try await refuse(
            .userLogin(userId: "anna", displayName: nil, authToken: SharedSecret(text: token)),
            "The auth token must have 1 to 100 printable ASCII characters, without spaces"
        )
    }

    @Test(arguments: [#"[{"userId":"bert"}]"#, #"[{"userId":"Anna"}]"#])
    func `an answer that lists other users only signs nobody in`(users: String) async throws {
        try await Stage.play([.social(users: users)]) { stage in
            let failure = try await stage.exchangeFailure(.social)

            #expect(failure?.unavailability?.ambiguous == true)
        }
    }

    @Test func `the longest values are sent`() async throws {
        let longest = String(repeating: "é", count: 50)
        try await Stage.play([.social(users: #"[{"userId":"\#(longest)"}]"#)]) { stage in
            let credential = Credential.userLogin(
                userId: longest,
                displayName: String(repeating: "n", count: 100),
                authToken: SharedSecret(text: String(repeating: "t", count: 100))
            )
            _ = try await stage.social.exchange(credential, expecting: nil)

            #expect(stage.server.requests.count == 1)
        }
    }

    @Test func `a sign-in without an API key names the missing setting`() async throws {
        let reason =
            "social.plus's API key is missing: set social.apiKeyFile or the service manager's credential social.apiKey"
        try await Stage.play([]) { stage in
            let social = try SocialProvider.sample(
                url: stage.server.url,
                apiKey: nil,
                http: stage.http,
                clock: stage.clock
            )
            #expect(throws: CredentialRefused.misconfigured(reason)) {
                try social.examine(login("anna"), configured: nil)
            }
            await #expect(throws: ExchangeFailure.refused(reason)) {
                try await social.exchange(login("anna"), expecting: nil)
            }
            await #expect(throws: RenewalFailure.unavailable(Unavailability(reason))) {
                try await social.renew(Identity(userId: "anna"), with: SessionSecrets(), using: .renew)
            }
            #expect(stage.server.requests.isEmpty)
        }
    }

    @Test(arguments: ["", "two words", "key\n", "clé"])
    func `an API key that cannot be a header fails at the start`(key: String) {
        let settings = ProviderSettings(["apiKeyFile": "/key"], of: "social") { _ in .success(SharedSecret(text: key)) }

        let fault = #expect(throws: ProviderConfigurationFault.self) { try SocialDefinition(settings) }

        #expect(fault?.message.hasPrefix("social.apiKeyFile: ") == true)
    }

    private func login(_ userId: String) -> Credential {
        .userLogin(userId: userId, displayName: nil, authToken: nil)
    }

    private func refuse(_ credential: Credential, _ reason: String) async throws {
        try await Stage.play([]) { stage in
            let social = try stage.social
            #expect(throws: CredentialRefused.malformed(reason)) { try social.examine(credential, configured: nil) }
            await #expect(throws: ExchangeFailure.refused(reason)) {
                try await social.exchange(credential, expecting: nil)
            }
            #expect(stage.server.requests.isEmpty)
        }
    }
}
