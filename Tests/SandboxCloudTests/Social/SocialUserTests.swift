import Foundation
import JunctionTesting
import Testing

@testable import SandboxCloud

@Suite struct SocialUserTests {
    @Test func `a ban refuses every request until it is lifted`() async throws {
        try await Sandbox.run { sandbox in
            let token = try await sandbox.socialToken()
            let banned = try await sandbox.post("/sandbox/social/users/anna/disable")

            let login = try await sandbox.logIn()
            let call = try await sandbox.seeAnna(token)
            _ = try await sandbox.post("/sandbox/social/users/anna/enable")

            #expect(banned.json["standing"] == "disabled")
            #expect(login.status == 403 && login.code == 400_312)
            #expect(call.status == 403 && call.code == 400_312)
            #expect(try await sandbox.logIn().status == 200)
            #expect(try await sandbox.counters().grants["session"] == ["granted": 2, "400312": 1])
        }
    }

    @Test func `a deleted user is answered 401 until the deletion is undone`() async throws {
        try await Sandbox.run { sandbox in
            let token = try await sandbox.socialToken()
            _ = try await sandbox.post("/sandbox/social/users/anna/delete")

            let login = try await sandbox.logIn()
            let call = try await sandbox.seeAnna(token)
            _ = try await sandbox.post("/sandbox/social/users/anna/undelete")

            #expect(login.status == 401 && login.code == 400_100)
            #expect(call.status == 401 && call.code == 400_100)
            #expect(try await sandbox.seeAnna(token).status == 200)
        }
    }

    @Test(arguments: [("disable", "isGlobalBanned"), ("delete", "isDeleted")])
    func `a setting opens a session for a banned or deleted user, with a flag`(verb: String, flag: String) async throws
    {
        try await Sandbox.run { sandbox in
            _ = try await sandbox.socialToken()
            _ = try await sandbox.post("/sandbox/social/users/anna/\(verb)")
            try await sandbox.setSocial(["opensForBanned": .bool(true)])

            let answer = try await sandbox.logIn()

            #expect(answer.status == 200)
            #expect(answer.user?[flag] == .bool(true))
        }
    }

    @Test func `in secure mode a login needs its own user's auth token`() async throws {
        try await Sandbox.run { sandbox in
            try await sandbox.setSocial(["secureMode": .bool(true)])
            let annas = try await sandbox.authToken(of: "anna")
            let berts = try await sandbox.authToken(of: "bert")

            let none = try await sandbox.logIn()
            let foreign = try await sandbox.logIn(authToken: berts)
            let forged = try await sandbox.logIn(authToken: "sat_forged")
            let own = try await sandbox.logIn(authToken: annas)
            let again = try await sandbox.logIn(authToken: annas)

            for answer in [none, foreign, forged] { #expect(answer.status == 401 && answer.code == 400_100) }
            #expect(own.status == 200 && again.status == 200)
        }
    }

    @Test func `a single-use auth token is not spent by a refused login`() async throws {
        try await Sandbox.run { sandbox in
            try await sandbox.setSocial(["secureMode": .bool(true), "singleUseAuthTokens": .bool(true)])
            let token = try await sandbox.authToken(of: "anna")

            #expect(try await sandbox.logIn("bert", authToken: token).status == 401)
            #expect(try await sandbox.logIn("anna", authToken: token).status == 200)
            #expect(try await sandbox.logIn("anna", authToken: token).code == 400_100)
        }
    }

    @Test(arguments: ["v3", "v4"])
    func `a backend gets an auth token as a JSON string of type plain text`(version: String) async throws {
        try await Sandbox.run { sandbox in
            try await sandbox.setSocial(["secureMode": .bool(true)])
            let path = "/api/\(version)/authentication/token"

            let answer = try await sandbox.post(
                path,
                ["userId": "anna"],
                headers: ["x-server-key": "sandbox-server-key"]
            )
            let keyless = try await sandbox.post(path, ["userId": "anna"])

            let token = try #require(answer.json.string)
            #expect(answer.headers["content-type"] == "text/plain; charset=utf-8")
            #expect(token.count <= 100)
            #expect(try await sandbox.logIn(authToken: token).status == 200)
            #expect(keyless.code == 400_100)
        }
    }

    @Test(arguments: ["expire-access-tokens", "revoke-access-tokens"])
    func `access tokens can be ended, and a login returns a new one`(verb: String) async throws {
        try await Sandbox.run { sandbox in
            let token = try await sandbox.socialToken()
            let left = try await sandbox.post("/sandbox/social/users/anna/\(verb)")

            #expect(left.json["logins"] == .integer(0))
            #expect(try await sandbox.seeAnna(token).code == 400_100)
            #expect(try await sandbox.seeAnna(try await sandbox.socialToken()).status == 200)
        }
    }

    @Test func `users are created explicitly or by their first login, and listed`() async throws {
        try await Sandbox.run { sandbox in
            let made = try await sandbox.post("/sandbox/social/users", ["userId": "bert b", "name": "Bert"])
            let again = try await sandbox.post("/sandbox/social/users", ["userId": "bert b"])
            let token = try await sandbox.socialToken()

            #expect(made.status == 201 && again.status == 409)
            #expect(try await sandbox.post("/sandbox/social/users/bert%20b/disable").json["name"] == "Bert")
            #expect(try await sandbox.post("/sandbox/social/users/nobody/disable").status == 404)
            let missing = try await sandbox.get("/api/v3/users/nobody", headers: Sandbox.bearer(token))
            #expect(missing.status == 404 && missing.code == 400_400)
            let list = try await sandbox.get("/sandbox/social/users")
            guard case .array(let users) = list.json["users"] else { return #expect(Bool(false), "no list") }
            #expect(users.map { $0["userId"] } == ["bert b", "anna"])
            #expect(users.map { $0["logins"] } == [.integer(0), .integer(1)])
        }
    }

    @Test func `a restart with a state file keeps users, bans and sessions, but no token`() async throws {
        let folder = TemporaryFolder()
        let file = folder.path + "/state.json"

        let token = try await Sandbox.run(stateFile: file) { sandbox in
            _ = try await sandbox.post("/sandbox/social/users", ["userId": "bert"])
            _ = try await sandbox.post("/sandbox/social/users/bert/disable")
            return try await sandbox.socialToken()
        }

        try await Sandbox.run(stateFile: file) { sandbox in
            let anna = try await sandbox.seeAnna(token)
            let bert = try await sandbox.logIn("bert", device: "device-2")

            #expect(anna.status == 200)
            #expect(bert.code == 400_312)
        }
        #expect(!(try String(contentsOfFile: file, encoding: .utf8)).contains(token))
    }
}
