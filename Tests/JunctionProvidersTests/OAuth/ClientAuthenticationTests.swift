import Crypto
import Foundation
import JunctionJSON
import JunctionSecret
import JunctionSession
import Testing

@testable import JunctionProviders

/// The client authentication.
struct ClientAuthenticationTests {
    private static func requests(
        _ settings: [String: ProviderSetting.Value]
    ) async throws -> [ScriptedServer.Request] {
        let files = ["/key": OAuthSettingsTests.pkcs8, "/secret": "a b:+~"]
        var requests: [ScriptedServer.Request] = []
        try await Stage.play([.json(400, "{}"), .json(400, "{}")]) { stage in
            let oauth = try stage.oauth(settings, files: files)
            _ = await oauth.renewalFailure()
            _ = await oauth.pollFailure()
            requests = stage.server.requests
        }
        return requests
    }

    @Test func `Basic form-encodes id and secret, and the id is in the body too`() async throws {
        let requests = try await Self.requests([
            "clientAuthentication": "basic", "clientSecretFile": "/secret", "clientId": "client:1",
        ])

        for request in requests {
            let expected = Data("client%3A1:a%20b%3A%2B~".utf8).base64EncodedString()
            #expect(request.header("authorization") == "Basic \(expected)")
            #expect(request.fields.last == "client_id=client%3A1")
            #expect(!request.body.contains("client_secret"))
        }
    }

    @Test func `the secret is sent once in the body`() async throws {
        for request in try await Self.requests(["clientAuthentication": "post", "clientSecretFile": "/secret"]) {
            #expect(request.header("authorization") == nil)
            #expect(request.fields.suffix(2) == ["client_id=client-1", "client_secret=a%20b%3A%2B~"])
        }
    }

    @Test(arguments: ["issuer", "endpoint"])
    func `an assertion is signed, short-lived, for the configured audience, and sent once`(
        audience: String
    ) async throws {
        let requests = try await Self.requests([
            "clientAuthentication": "privateKeyJwt", "clientKeyFile": "/key", "assertionAudience": .text(audience),
        ])
        let key = try P256.Signing.PrivateKey(pemRepresentation: OAuthSettingsTests.pkcs8)
        var ids: Set<String> = []

        for request in requests {
            #expect(
                request.fields.contains(
                    "client_assertion_type=urn%3Aietf%3Aparams%3Aoauth%3Aclient-assertion-type%3Ajwt-bearer"
                )
            )
            let assertion = try #require(request.fields.last { $0.hasPrefix("client_assertion=") }?.dropFirst(17))
            let parts = assertion.split(separator: ".").map(String.init)
            let signature = try P256.Signing.ECDSASignature(rawRepresentation: try #require(Self.decoded(parts[2])))
            #expect(key.publicKey.isValidSignature(signature, for: Data("\(parts[0]).\(parts[1])".utf8)))
            #expect(Self.decoded(parts[0]) == Data(#"{"alg":"ES256","typ":"JWT"}"#.utf8))
            let claims = try JSONValue.parse(Array(try #require(Self.decoded(parts[1]))))
            #expect(claims["iss"]?.string == "client-1")
            #expect(claims["sub"]?.string == "client-1")
            #expect(claims["iat"]?.integer == 1_795_262_390)
            #expect(claims["exp"]?.integer == 1_795_262_460)
            #expect(claims["aud"]?.string?.hasSuffix("/token") == (audience == "endpoint"))
            #expect((claims["aud"]?.string == OAuthSample.issuer) == (audience == "issuer"))
            ids.insert(claims["jti"]?.string ?? "")
        }
        #expect(ids.count == 2)
    }

    @Test func `an assertion uses the server's clock after the first answer that shows it`() async throws {
        let settings: [String: ProviderSetting.Value] = [
            "clientAuthentication": "privateKeyJwt", "clientKeyFile": "/key",
        ]
        // Five minutes behind the local clock.
        let refusal = ScriptedServer.Step.answer(
            401,
            [("date", "Sat, 21 Nov 2026 11:55:00 GMT")],
            #"{"error":"invalid_client"}"#
        )
        try await Stage.play([refusal, refusal]) { stage in
            let oauth = try stage.oauth(settings, files: ["/key": OAuthSettingsTests.pkcs8])
            _ = await oauth.renewalFailure()
            _ = await oauth.renewalFailure()

            let ends = try stage.server.requests.map { request in
                let assertion = try #require(request.fields.last { $0.hasPrefix("client_assertion=") }?.dropFirst(17))
                let payload = try #require(Self.decoded(String(assertion.split(separator: ".")[1])))
                return try JSONValue.parse(Array(payload))["exp"]?.integer
            }
            // A `Date` names a whole second, and the end of that second counts.
            #expect(ends == [1_795_262_460, 1_795_262_161])
        }
    }

    private static func decoded(_ text: String) -> Data? {
        let plain = text.replacing("-", with: "+").replacing("_", with: "/")
        return Data(base64Encoded: plain + String(repeating: "=", count: (4 - plain.count % 4) % 4))
    }
}
