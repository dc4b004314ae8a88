import JunctionSecret
import JunctionSession
import JunctionTesting
import NIOPosix
import Testing

@testable import JunctionProviders

struct OAuthExamineTests {
    private static func code(
        _ code: String = "code-1",
        _ redirectUri: String = "http://127.0.0.1:7000/done",
        _ verifier: String = OAuthSample.verifier
    ) -> Credential {
        .authorizationCode(
            SharedSecret(text: code),
            redirectUri: redirectUri,
            codeVerifier: SharedSecret(text: verifier)
        )
    }

    private static func subject(_ token: String = "s", _ type: String = "urn:ietf:params:oauth:token-type:jwt")
        -> Credential
    {
        .tokenExchange(subjectToken: SharedSecret(text: token), subjectTokenType: type)
    }

    @Test(arguments: [
        Credential.device, code(), .refreshToken(SharedSecret(text: "r")), subject(),
        code("c", "http://[::1]/"), code("c", "https://app.example.com/done"), code("c", "com.example.app:/done"),
        subject("s", "https://example.com/types/ticket"),
    ])
    func `no credential names its user, and examining sends no request`(credential: Credential) async throws {
        try await Stage.play([]) { stage in
            let facts = try stage.oauth().examine(credential, configured: nil)

            #expect(facts.subject == .unnamed)
            #expect(facts.scheme == credential.scheme)
            #expect(stage.server.requests.isEmpty)
        }
    }

    @Test func `an invalid token type is misdescribed`() async throws {
        try await Stage.play([]) { stage in
            let refused = #expect(throws: CredentialRefused.self) {
                try stage.oauth().examine(Self.subject("s", "jwt"), configured: nil)
            }
            #expect(refused?.reasonIfMisdescribed != nil)
        }
    }

    @Test(arguments: [
        code(""), code("a\nb"), code("c", "http://app.example.com/done"), code("c", "done"), code("c", "myapp:/done"),
        code("c", "http://127.0.0.1/#x"), code("c", "com.example.app:/d", String(repeating: "v", count: 42)),
        code("c", "com.example.app:/d", String(repeating: "v", count: 129)),
        code("c", "com.example.app:/d", String(repeating: "=", count: 43)), .refreshToken(SharedSecret(text: "")),
        .refreshToken(SharedSecret(text: "a\u{0}b")),
        .refreshToken(SharedSecret(text: String(repeating: "r", count: OAuthSignIn.longestRefreshToken + 1))),
        subject(""),
    ])
    func `an invalid credential is malformed`(credential: Credential) async throws {
        try await Stage.play([]) { stage in
            let refused = #expect(throws: CredentialRefused.self) {
                try stage.oauth().examine(credential, configured: nil)
            }
            #expect(refused?.reasonIfMalformed != nil)
        }
    }

    @Test(arguments: [OAuthSignIn.longestRefreshToken + 1, 1 << 17])
    func `the error for a long refresh token says that it is too long`(length: Int) async throws {
        try await Stage.play([]) { stage in
            let token = SharedSecret(text: String(repeating: "r", count: length))
            let refused = #expect(throws: CredentialRefused.self) {
                try stage.oauth().examine(.refreshToken(token), configured: nil)
            }
            #expect(refused?.reasonIfMalformed?.contains("is longer than 16384 bytes") == true)
        }
    }

    @Test func `only a session of token exchange renews with more than its refresh token`() throws {
        let setup = try OAuthSetup.sample(at: "https://id.example.com")
        let http = OutgoingHTTP(eventLoop: ScriptedServer.group.next(), helper: .built, userAgent: "test")
        let traits = OAuthProvider(setup: setup, http: http, clock: ManualClock(ManualClock.start)).schemes

        #expect(
            traits == [
                .device: SchemeTraits(
                    renewsByRefreshToken: true,
                    mayRetryAfterDemand: true,
                    isRevocableAfterExpiry: true
                ),
                .authorizationCode: SchemeTraits(
                    renewsByRefreshToken: true,
                    mayRetryAfterDemand: true,
                    isRevocableAfterExpiry: true
                ),
                .refreshToken: SchemeTraits(
                    renewsByRefreshToken: true,
                    mayRetryAfterDemand: true,
                    isRevocableAfterExpiry: true
                ),
                .tokenExchange: SchemeTraits(),
            ]
        )
    }
}
