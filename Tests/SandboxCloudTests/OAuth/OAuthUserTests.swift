import Crypto
import CryptoExtras
import Foundation
import JunctionText
import Testing

@testable import SandboxCloud

@Suite struct OAuthUserTests {
    @Test func `the login of a disabled user is refused until the user is enabled`() async throws {
        try await Sandbox.run { sandbox in
            let tokens = try await sandbox.connect()
            _ = try await sandbox.post("/sandbox/oauth/users/anna/disable")

            #expect(try await sandbox.renew(tokens.refresh).error == "invalid_grant")
            #expect(try await sandbox.whoami(tokens.access).status == 401)

            let enabled = try await sandbox.post("/sandbox/oauth/users/anna/enable")
            #expect(enabled.json["logins"] == .integer(1))
            #expect(try await sandbox.renew(tokens.refresh).status == 200)
            #expect(try await sandbox.counters().familyRevocations == 0)
        }
    }

    @Test func `a deleted user's logins end permanently`() async throws {
        try await Sandbox.run { sandbox in
            let tokens = try await sandbox.connect()
            _ = try await sandbox.post("/sandbox/oauth/users/anna/delete")
            #expect(try await sandbox.renew(tokens.refresh).error == "invalid_grant")

            _ = try await sandbox.post("/sandbox/oauth/users/anna/undelete")

            #expect(try await sandbox.renew(tokens.refresh).error == "invalid_grant")
            #expect(try await sandbox.oauthLogins().first?["ending"] == "deleted")
        }
    }

    @Test func `settings can keep the logins of disabled and deleted users valid`() async throws {
        try await Sandbox.run { sandbox in
            try await sandbox.setOAuth(["disabledRenews": .bool(true), "deletedRenews": .bool(true)])
            let first = try await sandbox.connect()
            _ = try await sandbox.post("/sandbox/oauth/users/anna/disable")
            let second = try Tokens(try await sandbox.renew(first.refresh))
            _ = try await sandbox.post("/sandbox/oauth/users/anna/delete")

            #expect(try await sandbox.renew(second.refresh).status == 200)
        }
    }

    @Test func `a disabled user cannot sign in`() async throws {
        try await Sandbox.run { sandbox in
            _ = try await sandbox.post("/sandbox/oauth/users", ["name": "anna"])
            _ = try await sandbox.post("/sandbox/oauth/users/anna/disable")
            let codes = try await sandbox.deviceCodes()

            #expect(try await sandbox.decide("approve", codes).status == 400)
            #expect(try await sandbox.poll(codes).error == "authorization_pending")
        }
    }

    @Test func `a user can have any sub that no other user has`() async throws {
        try await Sandbox.run { sandbox in
            let wish: JSONValue = ["name": "anna", "userId": "auth0|Ä/1"]
            let made = try await sandbox.post("/sandbox/oauth/users", wish)

            let minted = try await sandbox.post("/sandbox/oauth/users/auth0%7C%C3%84%2F1/tokens")
            let userinfo = try await sandbox.get(
                "/oauth/userinfo",
                headers: Sandbox.bearer(try #require(minted.json["accessToken"]?.string))
            )

            #expect(made.status == 201)
            #expect(userinfo.json == ["name": "anna", "sub": "auth0|Ä/1"])
            #expect(try await sandbox.post("/sandbox/oauth/users", wish).status == 409)
            #expect(try await sandbox.post("/sandbox/oauth/users/nobody/disable").status == 404)
            let refresh = try #require(minted.json["refreshToken"]?.string)
            #expect(try await sandbox.renew(refresh).status == 200)
        }
    }

    @Test func `access tokens can expire or be revoked, and logins can be ended`() async throws {
        try await Sandbox.run { sandbox in
            let first = try await sandbox.connect()
            _ = try await sandbox.post("/sandbox/oauth/users/anna/expire-access-tokens")
            #expect(try await sandbox.whoami(first.access).status == 401)
            let second = try Tokens(try await sandbox.renew(first.refresh))
            #expect(try await sandbox.whoami(second.access).status == 200)
            _ = try await sandbox.post("/sandbox/oauth/users/anna/revoke-access-tokens")
            #expect(try await sandbox.whoami(second.access).status == 401)

            _ = try await sandbox.post("/sandbox/oauth/users/anna/require-reauthentication")

            #expect(try await sandbox.renew(second.refresh).error == "invalid_grant")
            #expect(try await sandbox.counters().familyRevocations == 0)
        }
    }

    @Test(arguments: [("absent", nil), ("same", true), ("other", false)])
    func `a refresh returns the configured id_token`(which: String, isSame: Bool?) async throws {
        try await Sandbox.run { sandbox in
            try await sandbox.setOAuth(["refreshIdToken": .string(which), "idTokenAlgorithm": "RS256"])
            let first = try await sandbox.connect()
            let sub = try await sandbox.whoami(first.access).json["sub"]

            let answer = try await sandbox.renew(first.refresh)

            #expect(answer.idToken.map { $0["sub"] == sub } == isSame)
        }
    }

    @Test(arguments: ["ES256", "RS256"])
    func `an id_token is signed by the published key in its header`(algorithm: String) async throws {
        try await Sandbox.run { sandbox in
            try await sandbox.setOAuth(["idTokenAlgorithm": .string(algorithm)])
            let codes = try await sandbox.deviceCodes()
            _ = try await sandbox.decide("approve", codes)
            let jwt = try #require(try await sandbox.poll(codes).json["id_token"]?.string)
            let keys = try await sandbox.get("/oauth/jwks").json["keys"]

            let parts = jwt.split(separator: ".")
            let header = try #require(Base64.decode(parts[0].utf8, .urlSafe))
            let named = try JSONDecoder().decode(JSONValue.self, from: Data(header))
            guard case .array(let list) = keys, let key = list.first(where: { $0["kid"] == named["kid"] }) else {
                return #expect(Bool(false), "no such key")
            }
            let signed = Data("\(parts[0]).\(parts[1])".utf8)
            let signature = Data(try #require(Base64.decode(parts[2].utf8, .urlSafe)))
            #expect(named["alg"] == .string(algorithm))
            #expect(try key.verifies(signature, of: signed))
        }
    }

    @Test func `the id_token at sign-in can be omitted or changed`() async throws {
        try await Sandbox.run { sandbox in
            try await sandbox.setOAuth([
                "interval": .integer(0), "signInIdToken": .bool(false), "userinfoClaims": ["sub": "x"],
            ])
            let without = try await sandbox.deviceCodes()
            _ = try await sandbox.decide("approve", without)
            let silent = try await sandbox.poll(without)
            try await sandbox.setOAuth([
                "signInIdToken": .null, "idTokenClaims": ["aud": "other", "exp": .integer(1), "iat": .null],
            ])
            let with = try await sandbox.deviceCodes()
            _ = try await sandbox.decide("approve", with)
            let odd = try await sandbox.poll(with)

            #expect(silent.json["id_token"] == nil)
            let userinfo = try await sandbox.get("/oauth/userinfo", headers: Sandbox.bearer(try Tokens(silent)))
            #expect(userinfo.json["sub"] == "x")
            #expect(odd.idToken?["aud"] == "other" && odd.idToken?["exp"] == .integer(1))
            #expect(odd.idToken?["iat"] == nil)
        }
    }
}

extension JSONValue {
    /// Returns whether this JSON Web Key, EC or RSA, verifies a signature.
    fileprivate func verifies(_ signature: Data, of text: Data) throws -> Bool {
        func number(_ name: String) throws -> Data {
            Data(try #require(self[name]?.string.flatMap { Base64.decode($0.utf8, .urlSafe) }))
        }
        if self["kty"] == "EC" {
            let key = try P256.Signing.PublicKey(rawRepresentation: try number("x") + number("y"))
            return key.isValidSignature(try P256.Signing.ECDSASignature(rawRepresentation: signature), for: text)
        }
        let key = try _RSA.Signing.PublicKey(n: try number("n"), e: try number("e"))
        return key.isValidSignature(
            _RSA.Signing.RSASignature(rawRepresentation: signature),
            for: text,
            padding: .insecurePKCS1v1_5
        )
    }
}
