import Crypto
import Foundation
import JunctionText
import Testing

@testable import SandboxCloud

@Suite struct SandboxClientAuthenticationTests {
    @Test func `a secret is accepted in the header or in the body, but not in both`() async throws {
        try await Sandbox.run { sandbox in
            let header = Sandbox.basic("sandbox-confidential", "sandbox-secret")

            let basic = try await sandbox.askForCodes([:], authorization: header)
            let named = try await sandbox.askForCodes(["client_id": "sandbox-confidential"], authorization: header)
            let post = try await sandbox.askForCodes(
                ["client_id": "sandbox-confidential", "client_secret": "sandbox-secret"]
            )
            let both = try await sandbox.askForCodes(
                ["client_id": "sandbox-confidential", "client_secret": "sandbox-secret"],
                authorization: header
            )

            #expect(basic.status == 200 && named.status == 200 && post.status == 200)
            #expect(both.status == 400 && both.error == "invalid_request")
        }
    }

    @Test func `both halves of the header are form-encoded`() async throws {
        try await Sandbox.run { sandbox in
            _ = try await sandbox.post("/sandbox/oauth/clients", ["clientId": "a:b", "secret": "p w+%&"])
            let raw = "Basic " + Base64.encode(Array("a:b:p w+%&".utf8))

            let encoded = try await sandbox.askForCodes([:], authorization: Sandbox.basic("a:b", "p w+%&"))
            let unencoded = try await sandbox.askForCodes([:], authorization: raw)

            #expect(encoded.status == 200)
            #expect(unencoded.error == "invalid_client")
        }
    }

    @Test func `a client with a wrong credential is answered 401`() async throws {
        try await Sandbox.run { sandbox in
            let wrong = try await sandbox.oauth(
                "token",
                ["grant_type": "refresh_token", "refresh_token": "x"],
                authorization: Sandbox.basic("sandbox-confidential", "other")
            )
            let missing = try await sandbox.askForCodes(["client_id": "sandbox-confidential"])
            let needless = try await sandbox.askForCodes(["client_id": Sandbox.publicClient, "client_secret": "x"])
            let nobody = try await sandbox.askForCodes(["client_id": "nobody"])
            let other = try await sandbox.askForCodes(
                ["client_id": "sandbox-public"],
                authorization: Sandbox.basic("sandbox-confidential", "sandbox-secret")
            )

            for answer in [wrong, missing, needless, nobody] {
                #expect(answer.status == 401 && answer.error == "invalid_client")
                #expect(answer.headers["www-authenticate"] != nil)
            }
            #expect(other.error == "invalid_request")
            #expect(try await sandbox.counters().grants["refresh_token"] == ["invalid_client": 1])
        }
    }

    @Test func `an assertion for the issuer is accepted once`() async throws {
        try await Sandbox.run { sandbox in
            let key = try await sandbox.keyClient()
            let jwt = try sandbox.assertion(key)

            let first = try await sandbox.shown(jwt)
            let second = try await sandbox.shown(jwt)

            #expect(first.status == 200)
            #expect(second.status == 401 && second.error == "invalid_client")
        }
    }

    @Test func `an assertion for the endpoint is accepted if the setting asks for it`() async throws {
        try await Sandbox.run { sandbox in
            let key = try await sandbox.keyClient()
            try await sandbox.setOAuth(["assertionAudience": "endpoint"])

            let toIssuer = try await sandbox.shown(try sandbox.assertion(key))
            let toEndpoint = try await sandbox.shown(
                try sandbox.assertion(key, ["aud": .string("\(sandbox.issuer)/device_authorization")])
            )

            #expect(toIssuer.error == "invalid_client")
            #expect(toEndpoint.status == 200)
        }
    }

    @Test(
        arguments: [
            ["aud": "https://elsewhere"], ["iss": "other"], ["jti": .null], ["iat": .null], ["exp": .null],
            ["exp": .integer(1)], ["iat": .integer(4_000_000_000), "exp": .integer(4_000_000_100)],
            ["exp": .integer(4_000_000_000)],
        ] as [[String: JSONValue]]
    )
    func `an invalid assertion is refused`(claims: [String: JSONValue]) async throws {
        try await Sandbox.run { sandbox in
            let key = try await sandbox.keyClient()

            #expect(try await sandbox.shown(try sandbox.assertion(key, claims)).error == "invalid_client")
        }
    }

    @Test func `an assertion with another key and an invalid key are refused`() async throws {
        try await Sandbox.run { sandbox in
            _ = try await sandbox.keyClient()

            let forged = try await sandbox.shown(try sandbox.assertion(P256.Signing.PrivateKey()))
            let none = try await sandbox.post("/sandbox/oauth/clients", ["clientId": "x", "publicKey": "PEM"])

            #expect(forged.error == "invalid_client")
            #expect(none.status == 400)
        }
    }

    @Test func `a setting can require client_id in the body`() async throws {
        try await Sandbox.run { sandbox in
            try await sandbox.setOAuth(["wantsClientId": .bool(true)])
            let header = Sandbox.basic("sandbox-confidential", "sandbox-secret")

            let without = try await sandbox.askForCodes([:], authorization: header)
            let with = try await sandbox.askForCodes(["client_id": "sandbox-confidential"], authorization: header)

            #expect(without.error == "invalid_request")
            #expect(with.status == 200)
        }
    }

    @Test func `a removed client is unknown`() async throws {
        try await Sandbox.run { sandbox in
            let tokens = try await sandbox.connect()

            let dropped = try await sandbox.delete("/sandbox/oauth/clients/sandbox-public")

            #expect(dropped.json["clientId"] == "sandbox-public")
            #expect(try await sandbox.renew(tokens.refresh).error == "invalid_client")
            #expect(try await sandbox.delete("/sandbox/oauth/clients/sandbox-public").status == 404)
        }
    }

    @Test func `a repeated parameter is invalid_request, and an empty one counts as missing`() async throws {
        try await Sandbox.run { sandbox in
            let twice = try await sandbox.askForCodes(["client_id": "a", "client_id": "a"])
            let empty = try await sandbox.askForCodes(
                ["client_id": Sandbox.publicClient, "client_secret": "", "resource": "r", "resource": "s"]
            )

            #expect(twice.error == "invalid_request")
            #expect(empty.status == 200)
        }
    }
}

extension Sandbox {
    fileprivate static func basic(_ id: String, _ secret: String) -> String {
        "Basic " + Base64.encode(Array("\(PercentEncoding.encode(id)):\(PercentEncoding.encode(secret))".utf8))
    }

    /// Registers the client `keyed`, which signs its assertions.
    fileprivate func keyClient() async throws -> P256.Signing.PrivateKey {
        let key = P256.Signing.PrivateKey()
        let answer = try await post(
            "/sandbox/oauth/clients",
            ["clientId": "keyed", "publicKey": .string(key.publicKey.pemRepresentation)]
        )
        try #require(answer.status == 201)
        return key
    }

    fileprivate func assertion(
        _ key: P256.Signing.PrivateKey,
        _ others: [String: JSONValue] = [:]
    ) throws -> String {
        let now = Int64(Date().timeIntervalSince1970)
        let claims: [String: JSONValue] = [
            "iss": "keyed", "sub": "keyed", "aud": .string(issuer), "jti": .string(TokenText.identifier()),
            "iat": .integer(now), "exp": .integer(now + 60),
        ]
        let header: JSONValue = ["alg": "ES256"]
        let signed =
            Base64.encodeURLSafe(try header.text()) + "."
            + Base64.encodeURLSafe(try JSONValue.object(claims.overlaid(with: others)).text())
        return signed + "." + Base64.encodeURLSafe(try key.signature(for: Data(signed.utf8)).rawRepresentation)
    }

    fileprivate func shown(_ assertion: String) async throws -> Answer {
        try await askForCodes(
            [
                "client_assertion_type": "urn:ietf:params:oauth:client-assertion-type:jwt-bearer",
                "client_assertion": assertion,
            ]
        )
    }
}
