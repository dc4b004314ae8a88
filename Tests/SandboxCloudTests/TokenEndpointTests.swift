import Foundation
import Testing

@testable import SandboxCloud

@Suite struct TokenEndpointTests {
    @Test func `a Sign-In Token is exchanged for a token pair that can access the API`() async throws {
        try await Sandbox.run { sandbox in
            let user = try await sandbox.user()

            let answer = try await sandbox.exchange(try await sandbox.signInToken(of: user))
            let tokens = try Tokens(answer)
            let own = try await sandbox.get("/v2/user/\(user)", headers: Sandbox.bearer(tokens))

            #expect(answer.json["expires_in"] == .integer(3600))
            #expect(answer.json["token_type"] == "Bearer")
            #expect(own.json["client_user_id"] == "anna")
        }
    }

    @Test func `a Sign-In Token can be exchanged once unless the settings differ`() async throws {
        try await Sandbox.run { sandbox in
            let user = try await sandbox.user()
            let token = try await sandbox.signInToken(of: user)
            _ = try Tokens(try await sandbox.exchange(token))

            let again = try await sandbox.exchange(token)
            _ = try await sandbox.post("/sandbox/settings", ["singleUseSignInTokens": .bool(false)])
            let allowed = try await sandbox.exchange(token)

            #expect(again.status == 401 && again.errorType == "invalid_token")
            #expect(allowed.status == 200)
        }
    }

    @Test func `an envelope, a forged token and an expired token are refused as invalid`() async throws {
        try await Sandbox.run { sandbox in
            let user = try await sandbox.user()
            let envelope = try await sandbox.signInToken(of: user)

            let wrapped = try await sandbox.form([
                "grant_type": GrantType.exchange.wireName, "subject_token_type": JunctionCloud.signInTokenType,
                "subject_token": envelope,
            ])
            let forged = try await sandbox.exchange(try await sandbox.signInToken(of: user, ["forged": .bool(true)]))
            let expired = try await sandbox.exchange(try await sandbox.signInToken(of: user, ["expired": .bool(true)]))
            _ = try await sandbox.post("/sandbox/clock", ["advanceSeconds": .integer(3600)])
            let old = try await sandbox.exchange(envelope)

            for answer in [wrapped, forged, expired, old] {
                #expect(answer.status == 401)
                #expect(answer.errorType == "invalid_token")
            }
            #expect(try await sandbox.counters().grants == ["exchange": ["invalid_token": 4]])
        }
    }

    @Test func `an invalid request is answered with the missing parameter`() async throws {
        try await Sandbox.run { sandbox in
            let grantless = try await sandbox.form(["refresh_token": "x"])
            let tokenless = try await sandbox.form(["grant_type": "refresh_token"])
            let typeless = try await sandbox.form(["grant_type": GrantType.exchange.wireName, "subject_token": "x"])
            let json = try await sandbox.post("/v1/token", ["grant_type": "refresh_token"])

            #expect(grantless.errorType == "unsupported_grant_type")
            #expect(tokenless.errorType == "invalid_request")
            #expect(typeless.errorType == "invalid_request")
            #expect(json.errorType == "unsupported_grant_type")
            #expect([grantless, tokenless, typeless, json].allSatisfy { $0.status == 400 })
        }
    }

    @Test func `a replay within the grace succeeds, and one after it ends the family`() async throws {
        // The grace is longer than the calls in between take on any machine.
        try await Sandbox.run {
            $0.settings.general.rotationGrace = 86_400
        } _: { sandbox in
            let first = try await sandbox.signIn(try await sandbox.user())
            _ = try Tokens(try await sandbox.refresh(first.refresh))
            let replayed = try Tokens(try await sandbox.refresh(first.refresh))

            _ = try await sandbox.post("/sandbox/clock", ["advanceSeconds": .integer(86_400)])
            let late = try await sandbox.refresh(first.refresh)
            let heir = try await sandbox.refresh(replayed.refresh)

            #expect(late.status == 401 && late.errorType == "reauthentication_required")
            #expect(heir.status == 401 && heir.errorType == "reauthentication_required")
            let tally = try await sandbox.counters()
            #expect(tally.familyRevocations == 1)
            #expect(tally.exchanges == 1 && tally.refreshes == 2 && tally.replays == 1)
        }
    }

    @Test(arguments: ["delete", "disable"])
    func `the tokens of a deleted or disabled user are invalid`(verb: String) async throws {
        try await Sandbox.run { sandbox in
            let user = try await sandbox.user()
            let unused = try await sandbox.signInToken(of: user)
            let tokens = try await sandbox.signIn(user)

            _ = try await sandbox.post("/sandbox/users/\(user)/\(verb)")

            #expect(try await sandbox.refresh(tokens.refresh).errorType == "invalid_token")
            #expect(try await sandbox.exchange(unused).errorType == "invalid_token")
            #expect(try await sandbox.get("/v2/user/\(user)", headers: Sandbox.bearer(tokens)).status == 401)
        }
    }

    @Test func `a user whose deletion was undone must sign in again`() async throws {
        try await Sandbox.run { sandbox in
            let user = try await sandbox.user()
            let tokens = try await sandbox.signIn(user)
            _ = try await sandbox.delete("/v2/user/\(user)", headers: Sandbox.team)
            _ = try await sandbox.post("/v2/user/undo_delete?user_id=\(user)", headers: Sandbox.team)

            #expect(try await sandbox.refresh(tokens.refresh).errorType == "reauthentication_required")
            #expect(try await sandbox.exchange(try await sandbox.signInToken(of: user)).status == 200)
        }
    }

    @Test func `the login of a disabled user is valid again after enabling`() async throws {
        try await Sandbox.run { sandbox in
            let user = try await sandbox.user()
            let tokens = try await sandbox.signIn(user)
            _ = try await sandbox.post("/sandbox/users/\(user)/disable")
            _ = try await sandbox.post("/sandbox/users/\(user)/enable")

            #expect(try await sandbox.refresh(tokens.refresh).status == 200)
        }
    }

    @Test func `reauthentication is required until a new exchange`() async throws {
        try await Sandbox.run { sandbox in
            let user = try await sandbox.user()
            let tokens = try await sandbox.signIn(user)

            _ = try await sandbox.post("/sandbox/users/\(user)/require-reauthentication")
            let refused = try await sandbox.refresh(tokens.refresh)
            let renewed = try await sandbox.signIn(user)

            #expect(refused.status == 401 && refused.errorType == "reauthentication_required")
            #expect(try await sandbox.refresh(renewed.refresh).status == 200)
            #expect(try await sandbox.counters().familyRevocations == 0)
        }
    }

    @Test func `an unknown refresh token is answered with a reauthentication error`() async throws {
        try await Sandbox.run { sandbox in
            let answer = try await sandbox.refresh("rt_unknown")

            #expect(answer.errorType == "reauthentication_required")
        }
    }

    @Test func `percent escapes in a form are decoded`() {
        let form = Form("a=1%2B2&b=x+y&c&d=100%&a=second&e=%zz")

        #expect(form["a"] == "1+2")
        #expect(form["b"] == "x y")
        #expect(form["c"] == nil && form.fields[2].name == "c", "an empty parameter was not sent")
        #expect(form["d"] == "100%")
        #expect(form["e"] == "%zz")
    }
}
