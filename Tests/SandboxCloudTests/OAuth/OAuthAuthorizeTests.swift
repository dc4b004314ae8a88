import Foundation
import Testing

@testable import SandboxCloud

@Suite struct OAuthAuthorizeTests {
    @Test func `an approval in the browser returns a code that is redeemed with its verifier`() async throws {
        try await Sandbox.run { sandbox in
            let page = try await sandbox.get("/oauth/authorize?" + Form.text(Self.request()))
            let sent = try await sandbox.press("approve")
            let back = try #require(sent.headers["location"])
            let fields = Form(String(back.drop { $0 != "?" }.dropFirst()))

            let tokens = try await sandbox.redeem(try #require(fields["code"]))

            #expect(page.status == 200)
            #expect(String(decoding: page.body, as: UTF8.self).contains(#"name="code_challenge""#))
            #expect(sent.status == 303)
            #expect(back.hasPrefix("http://127.0.0.1:49152/cb?"))
            #expect(fields["state"] == "s&1")
            #expect(fields["iss"] == sandbox.issuer)
            #expect(tokens.idToken?["nonce"] == "n")
            #expect(try await sandbox.whoami(try Tokens(tokens).access).json["name"] == "anna")
            #expect(try await sandbox.counters().grants["authorization_code"] == ["granted": 1])
        }
    }

    @Test func `a second use of a code ends the login that it opened`() async throws {
        try await Sandbox.run { sandbox in
            let code = try await sandbox.code()
            let tokens = try Tokens(try await sandbox.redeem(code))

            #expect(try await sandbox.redeem(code).error == "invalid_grant")
            #expect(try await sandbox.renew(tokens.refresh).error == "invalid_grant")
            #expect(try await sandbox.oauthLogins().first?["ending"] == "codeReused")
        }
    }

    @Test func `a code needs its verifier and its redirect URI, and lasts one minute`() async throws {
        try await Sandbox.run { sandbox in
            let code = try await sandbox.code()

            #expect(try await sandbox.redeem(code, verifier: nil).error == "invalid_grant")
            let wrong = String(repeating: "x", count: 43)
            #expect(try await sandbox.redeem(code, verifier: wrong).error == "invalid_grant")
            #expect(try await sandbox.redeem(code, redirectUri: "http://127.0.0.1:1/cb").error == "invalid_grant")
            try await sandbox.advance(60)
            #expect(try await sandbox.redeem(code).error == "invalid_grant")
        }
    }

    @Test(arguments: [
        ("response_type", "token", "unsupported_response_type"), ("code_challenge", nil, "invalid_request"),
        ("code_challenge_method", "plain", "invalid_request"), ("scope", "forbidden", "invalid_scope"),
        ("decision", "deny", "access_denied"),
    ])
    func `an error of the request is sent by the redirect`(name: String, value: String?, error: String) async throws {
        try await Sandbox.run { sandbox in
            try await sandbox.setOAuth(["refusedScopes": ["forbidden"]])

            let answer = try await sandbox.press("approve", replacing: name, by: value)

            #expect(answer.status == 303)
            let fields = Form(String(try #require(answer.headers["location"]).drop { $0 != "?" }.dropFirst()))
            #expect(fields["error"] == error)
            #expect(fields["state"] == "s&1")
            #expect(fields["code"] == nil)
        }
    }

    @Test(arguments: [
        ("client_id", "nobody"), ("redirect_uri", "https://example.org/cb"), ("redirect_uri", "http://localhost:1/"),
        ("redirect_uri", "http://127.0.0.1.example.org/"), ("redirect_uri", "http://127.0.0.1:1/#x"),
        ("redirect_uri", nil),
    ])
    func `the browser is not redirected to a foreign address`(name: String, value: String?) async throws {
        try await Sandbox.run { sandbox in
            let answer = try await sandbox.press("approve", replacing: name, by: value)

            #expect(answer.status == 400)
            #expect(answer.headers["location"] == nil)
        }
    }

    fileprivate static func request() -> [(name: String, value: String)] {
        [
            ("response_type", "code"), ("client_id", Sandbox.publicClient), ("state", "s&1"), ("nonce", "n"),
            ("redirect_uri", "http://127.0.0.1:49152/cb"), ("scope", "openid offline_access"),
            ("code_challenge", Verifier.challenge), ("code_challenge_method", "S256"),
        ]
    }
}

extension Sandbox {
    /// Sends the form that a button of the page sends.
    fileprivate func press(
        _ decision: String,
        replacing name: String = "",
        by value: String? = nil
    ) async throws -> Answer {
        var fields = OAuthAuthorizeTests.request() + [("user", "anna"), ("decision", decision)]
        fields.removeAll { $0.name == name }
        if let value { fields.append((name, value)) }
        return try await client.send(
            "POST",
            "/oauth/authorize",
            headers: ["Content-Type": Form.contentType],
            body: Form.text(fields)
        )
    }

    fileprivate func code() async throws -> String {
        let location = try #require(try await press("approve").headers["location"])
        return try #require(Form(String(location.drop { $0 != "?" }.dropFirst()))["code"])
    }

    fileprivate func redeem(
        _ code: String,
        verifier: String? = Verifier.text,
        redirectUri: String = "http://127.0.0.1:49152/cb"
    ) async throws -> Answer {
        try await oauth(
            "token",
            [
                "grant_type": "authorization_code", "client_id": Self.publicClient, "code": code,
                "redirect_uri": redirectUri, "code_verifier": verifier ?? "",
            ]
        )
    }
}
