import Foundation
import JunctionTesting
import Testing

@testable import SandboxCloud

private let subjectTokenType = "urn:ietf:params:oauth:token-type:jwt"

@Suite struct OAuthTokenTests {
    @Test(arguments: [true, false])
    func `a subject token is exchanged, with or without a refresh token`(hasRefreshToken: Bool) async throws {
        try await Sandbox.run { sandbox in
            try await sandbox.setOAuth(["exchangeRefreshToken": .bool(hasRefreshToken), "exchangeIdToken": .bool(true)])
            let subject = try await sandbox.subjectToken()

            let answer = try await sandbox.exchange(subject, type: subjectTokenType)

            #expect(answer.status == 200)
            #expect(answer.json["issued_token_type"] == "urn:ietf:params:oauth:token-type:access_token")
            #expect((answer.json["refresh_token"] != nil) == hasRefreshToken)
            #expect(answer.idToken?["sub"] != nil)
            #expect(try await sandbox.counters().grants["exchange"] == ["granted": 1])
        }
    }

    @Test func `an invalid subject token is refused with the configured error`() async throws {
        try await Sandbox.run { sandbox in
            let expired = try await sandbox.subjectToken(["expiresIn": .integer(-1)])
            let once = try await sandbox.subjectToken(["singleUse": .bool(true)])
            _ = try await sandbox.exchange(once, type: subjectTokenType)

            #expect(try await sandbox.exchange(expired, type: subjectTokenType).error == "invalid_request")
            #expect(try await sandbox.exchange(once, type: subjectTokenType).error == "invalid_request")
            try await sandbox.setOAuth(["badSubjectToken": "invalid_grant"])
            let good = try await sandbox.subjectToken()
            #expect(try await sandbox.exchange(good, type: "urn:other").error == "invalid_grant")
        }
    }

    @Test func `revoking a refresh token ends its login, and an access token only itself`() async throws {
        try await Sandbox.run { sandbox in
            let tokens = try await sandbox.connect()

            let unknown = try await sandbox.revoke("nothing")
            let access = try await sandbox.revoke(tokens.access)
            #expect(try await sandbox.whoami(tokens.access).status == 401)
            let next = try Tokens(try await sandbox.renew(tokens.refresh))
            let refresh = try await sandbox.revoke(next.refresh)
            let again = try await sandbox.revoke(next.refresh)

            for answer in [unknown, access, refresh, again] { #expect(answer.status == 200) }
            #expect(try await sandbox.renew(next.refresh).error == "invalid_grant")
            #expect(try await sandbox.whoami(next.access).status == 401)
            #expect(try await sandbox.oauthLogins().first?["ending"] == "signedOut")
            #expect(try await sandbox.counters().signOuts == 1)
        }
    }

    @Test func `revocation needs the client, and a setting refuses clients without credentials`() async throws {
        try await Sandbox.run { sandbox in
            let tokens = try await sandbox.connect()
            let other = try await sandbox.oauth(
                "revoke",
                ["client_id": "sandbox-confidential", "client_secret": "sandbox-secret", "token": tokens.refresh]
            )
            let nobody = try await sandbox.oauth("revoke", ["token": tokens.refresh])
            try await sandbox.setOAuth(["publicClientsRevoke": .bool(false)])

            #expect(other.error == "unauthorized_client")
            #expect(nobody.status == 401)
            #expect(try await sandbox.revoke(tokens.refresh).status == 401)
            #expect(try await sandbox.renew(tokens.refresh).status == 200)
        }
    }

    @Test func `grants and scopes can be refused, and scopes can be withheld`() async throws {
        try await Sandbox.run { sandbox in
            let tokens = try await sandbox.connect()
            try await sandbox.setOAuth(["unauthorizedGrants": ["refresh_token"]])
            #expect(try await sandbox.renew(tokens.refresh).error == "unauthorized_client")
            try await sandbox.setOAuth(["unsupportedGrants": ["refresh_token"], "withheldScopes": ["offline_access"]])
            #expect(try await sandbox.renew(tokens.refresh).error == "unsupported_grant_type")

            let codes = try await sandbox.deviceCodes()
            _ = try await sandbox.decide("approve", codes)
            let narrow = try await sandbox.poll(codes)

            #expect(narrow.json["scope"] == "openid")
            #expect(narrow.json["refresh_token"] == nil)
        }
    }

    @Test func `the format and the status of answers can be changed`() async throws {
        try await Sandbox.run { sandbox in
            let tokens = try await sandbox.connect()
            try await sandbox.setOAuth([
                "errorStatus": .integer(200), "answers": "form", "tokenMembers": ["expires_in": .null, "error": .null],
            ])

            let error = try await sandbox.renew("unknown")
            let answer = try await sandbox.renew(tokens.refresh)
            try await sandbox.setOAuth(["errors": "empty", "errorStatus": .null])
            let empty = try await sandbox.renew("unknown")
            try await sandbox.setOAuth(["errors": "html"])
            let page = try await sandbox.renew("unknown")

            #expect(error.status == 200 && error.error == "invalid_grant")
            #expect(answer.headers["content-type"] == Form.contentType)
            let fields = Form(String(decoding: answer.body, as: UTF8.self))
            #expect(fields["access_token"]?.hasPrefix("oat_") == true)
            #expect(fields["token_type"] == "Bearer" && fields["expires_in"] == nil)
            #expect(empty.status == 400 && empty.body.isEmpty)
            #expect(page.status == 400 && page.headers["content-type"] == "text/html; charset=utf-8")
        }
    }

    @Test func `members can be null in answers and in errors`() async throws {
        try await Sandbox.run { sandbox in
            let tokens = try await sandbox.connect()
            try await sandbox.setOAuth(["nullMembers": ["error", "id_token"]])

            let answer = try await sandbox.renew(tokens.refresh)
            let error = try await sandbox.renew("unknown")

            #expect(answer.status == 200)
            #expect(answer.json["error"] == .null && answer.json["id_token"] == .null)
            #expect(error.error == "invalid_grant" && error.json["id_token"] == .null)
        }
    }

    @Test func `a fault can be limited to a grant of the OAuth server`() async throws {
        try await Sandbox.run { sandbox in
            try await sandbox.setOAuth(["interval": .integer(0)])
            let tokens = try await sandbox.connect()
            for fault: JSONValue in [
                ["match": "/oauth/token", "grant": "device_code", "status": .integer(503), "times": .integer(1)],
                ["match": "/oauth/token", "omitRefreshToken": .bool(true), "times": .integer(1)],
                ["match": "/oauth/token", "contentType": "text/html", "times": .integer(1)],
            ] { try #require(try await sandbox.post("/sandbox/faults", fault).status == 201) }

            let renewal = try await sandbox.renew(tokens.refresh)
            let poll = try await sandbox.poll(try await sandbox.deviceCodes())
            let typed = try await sandbox.renew("unknown")

            #expect(renewal.status == 200 && renewal.json["refresh_token"] == nil)
            #expect(poll.status == 503)
            #expect(typed.headers["content-type"] == "text/html" && typed.error == "invalid_grant")
        }
    }

    @Test func `the API needs a token and returns the received request`() async throws {
        try await Sandbox.run { sandbox in
            let tokens = try await sandbox.connect(scope: "offline_access")

            let nothing = try await sandbox.get("/oauth-api/v1/whoami")
            let wrong = try await sandbox.whoami("x")
            let narrow = try await sandbox.get("/oauth/userinfo", headers: Sandbox.bearer(tokens))
            let echo = try await sandbox.client.send(
                "PUT",
                "/oauth-api/v1/echo/a/b?c=d",
                headers: Sandbox.bearer(tokens).merging(["Content-Type": "text/plain"]) { first, _ in first },
                body: "hello"
            )

            #expect(nothing.status == 401)
            #expect(nothing.headers["www-authenticate"] == #"Bearer realm="junction-sandbox""#)
            #expect(wrong.status == 401)
            #expect(wrong.headers["www-authenticate"]?.contains(#"error="invalid_token""#) == true)
            #expect(narrow.status == 403)
            #expect(echo.json["method"] == "PUT" && echo.json["path"] == "/oauth-api/v1/echo/a/b")
            #expect(echo.json["query"] == "c=d" && echo.json["body"] == "hello")
        }
    }

    @Test func `a restart with a state file keeps logins, codes and the grace, and the file contains no token`()
        async throws
    {
        let folder = TemporaryFolder()
        let file = folder.path + "/state.json"

        let (first, second, codes) = try await Sandbox.run(stateFile: file) {
            $0.settings.general.rotationGrace = 3_600
        } _: { sandbox in
            let first = try await sandbox.connect()
            let second = try Tokens(try await sandbox.renew(first.refresh))
            return (first, second, try await sandbox.deviceCodes())
        }

        let text = try String(contentsOfFile: file, encoding: .utf8)
        for secret in [first.access, first.refresh, second.access, second.refresh, codes.deviceCode] {
            #expect(!text.contains(secret))
        }
        try await Sandbox.run(stateFile: file) {
            $0.settings.general.rotationGrace = 3_600
        } _: { sandbox in
            let replay = try Tokens(try await sandbox.renew(first.refresh))
            #expect(replay.refresh == second.refresh && replay.access == second.access)
            #expect(try await sandbox.whoami(second.access).status == 200)
            _ = try await sandbox.decide("approve", codes)
            #expect(try await sandbox.poll(codes).status == 200)
        }
    }
}

extension Sandbox {
    fileprivate func subjectToken(_ options: JSONValue = [:]) async throws -> String {
        _ = try await post("/sandbox/oauth/users", ["name": "anna"])
        let answer = try await post("/sandbox/oauth/users/anna/subject-token", options)
        return try #require(answer.json["subjectToken"]?.string)
    }

    fileprivate func exchange(_ subjectToken: String, type: String) async throws -> Answer {
        try await oauth(
            "token",
            [
                "grant_type": GrantType.exchange.wireName, "client_id": Self.publicClient,
                "subject_token": subjectToken, "subject_token_type": type, "scope": "openid offline_access",
            ]
        )
    }

    fileprivate func revoke(_ token: String) async throws -> Answer {
        try await oauth("revoke", ["client_id": Self.publicClient, "token": token])
    }
}
