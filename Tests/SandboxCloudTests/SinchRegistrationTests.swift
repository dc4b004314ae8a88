import Foundation
import JunctionTesting
import RegistrationToken
import Testing

@testable import SandboxCloud

@Suite struct SinchRegistrationTests {
    @Test func `a token registers a user's device and returns a credential`() async throws {
        try await Sandbox.run { sandbox in
            let answer = try await sandbox.register(token: try await sandbox.registrationToken())

            let id = try #require(answer.json["instanceId"]?.string)
            let credential = try #require(answer.json["credential"]?.string)
            #expect(answer.status == 200)
            #expect(answer.json["expiresAt"] == .null)
            #expect(try await sandbox.get("/v1/instance/\(id)", headers: bearer(credential)).status == 200)
            #expect(try await sandbox.get("/v1/instance/\(id)", headers: bearer("other")).status == 401)
            #expect(try await sandbox.counters().grants["registration"] == ["granted": 1])
            #expect(try await sandbox.counters().tokenRequests == 1)
        }
    }

    @Test func `repeated registrations of a user's device keep one instance`() async throws {
        try await Sandbox.run { sandbox in
            let first = try await sandbox.register(token: try await sandbox.registrationToken())
            let second = try await sandbox.register(token: try await sandbox.registrationToken())
            let other = try await sandbox.register(token: try await sandbox.registrationToken(), device: "d2")

            #expect(first.json["instanceId"] == second.json["instanceId"])
            #expect(first.json["credential"] != second.json["credential"])
            #expect(first.json["instanceId"] != other.json["instanceId"])
            #expect(try await sandbox.instances().count == 2)
        }
    }

    @Test(arguments: [
        (#"{"claims":{"nonce":""}}"#, "nonce"), (#"{"claims":{"exp":0}}"#, "timeToLive"),
        (#"{"claims":{"sub":"x"}}"#, "subject"), (#"{"header":{"alg":"none"}}"#, "algorithm"),
        (#"{"header":{"kid":"hkdfv1-20180102"}}"#, "keyIdDate"), (#"{"forged":true}"#, "signature"),
        (
            #"{"claims":{"iss":"//rtc.sinch.com/applications/k","sub":"//rtc.sinch.com/applications/k/users/anna"}}"#,
            "application"
        ),
        (#"{"issuedAt":1514862245}"#, "expired"),
        (#"{"claims":{"sinch:rtc:instance:exp":1}}"#, "instanceExpiry"),
    ])
    func `an invalid token is refused with the name of the broken rule`(options: String, rule: String) async throws {
        try await Sandbox.run { sandbox in
            let options = try JSONDecoder().decode([String: JSONValue].self, from: Data(options.utf8))
            let answer = try await sandbox.register(token: try await sandbox.registrationToken(options))

            #expect(answer.status == 401)
            #expect(answer.json["errorCode"] == .integer(40_101))
            #expect(answer.json["message"]?.string?.contains("breaks the rule \(rule):") == true)
            #expect(try await sandbox.counters().grants["registration"] == ["refused": 1])
        }
    }

    @Test func `a token is valid for one user only`() async throws {
        try await Sandbox.run { sandbox in
            let berts = try await sandbox.register(token: try await sandbox.registrationToken(for: "bert"))

            #expect(berts.status == 401)
            #expect(berts.json["message"]?.string?.contains("breaks the rule user:") == true)
        }
    }

    @Test func `a disabled or deleted user cannot register`() async throws {
        try await Sandbox.run { sandbox in
            _ = try await sandbox.post("/sandbox/sinch/users", ["name": "anna"])
            for (there, back) in [("disable", "enable"), ("delete", "undelete")] {
                _ = try await sandbox.post("/sandbox/sinch/users/anna/\(there)")
                let refused = try await sandbox.register(token: try await sandbox.registrationToken())
                _ = try await sandbox.post("/sandbox/sinch/users/anna/\(back)")

                #expect(refused.status == 401 && refused.json["errorCode"] == .integer(40_101))
                #expect(try await sandbox.register(token: try await sandbox.registrationToken()).status == 200)
            }
        }
    }

    @Test func `a changed token is signed by the published algorithm`() async throws {
        try await Sandbox.run { sandbox in
            let jwt = try await sandbox.registrationToken(["header": ["typ": "JWT"], "claims": ["extra": .integer(1)]])

            #expect(try await sandbox.register(token: jwt).status == 200)
        }
    }

    @Test func `a nonce is valid for one token of one device, which may repeat the request`() async throws {
        try await Sandbox.run { sandbox in
            let token = try await sandbox.registrationToken(["nonce": "n"])
            let another = try await sandbox.registrationToken(["nonce": "n", "ttl": .integer(601)])

            #expect(try await sandbox.register(token: token).status == 200)
            #expect(try await sandbox.register(token: token).status == 200)
            #expect(try await sandbox.register(token: another).status == 401)
            #expect(try await sandbox.register(token: token, device: "d2").status == 401)
        }
    }

    @Test func `only the configured application is known`() async throws {
        let mine = try SinchApplication(key: "mine", secretText: "c2VjcmV0\n")
        try await Sandbox.run { sandbox in
            let unknown = try await sandbox.register(token: "t", application: "mine")

            #expect(unknown.status == 403 && unknown.json["errorCode"] == .integer(40_301))
        }
        try await Sandbox.run {
            $0.sinch = mine
        } _: { sandbox in
            let token = try await sandbox.registrationToken()

            #expect(try RegistrationToken.inspect(token.utf8).applicationKey == "mine")
            #expect(try await sandbox.register(token: token, application: "mine").status == 200)
        }
    }

    // MARK: The end of a registration

    @Test func `a limited registration can be extended but not made unlimited`() async throws {
        try await Sandbox.run { sandbox in
            let limited = try await sandbox.registrationToken(["instanceTtl": .integer(172_800)])
            let first = try await sandbox.register(token: limited)
            let endless = try await sandbox.register(token: try await sandbox.registrationToken())
            let longer = try await sandbox.registrationToken(["instanceTtl": .integer(200_000)])
            let extended = try await sandbox.register(token: longer)

            let end = try #require(first.json["expiresAt"]?.seconds)
            #expect(try end == RegistrationToken.inspectedEnd(of: limited))
            #expect(endless.json["expiresAt"]?.seconds == end)
            #expect(try extended.json["expiresAt"]?.seconds == RegistrationToken.inspectedEnd(of: longer))
        }
    }

    @Test func `an ended instance is unknown, and a new registration creates another one`() async throws {
        try await Sandbox.run { sandbox in
            let token = try await sandbox.registrationToken(["instanceTtl": .integer(172_800)])
            let id = try #require(try await sandbox.register(token: token).json["instanceId"]?.string)
            _ = try await sandbox.post("/sandbox/clock", ["advanceSeconds": .integer(172_801)])

            let extended = try await sandbox.register(token: try await sandbox.registrationToken(), extending: id)
            let new = try await sandbox.register(token: try await sandbox.registrationToken())

            #expect(extended.status == 401 && extended.json["errorCode"] == .integer(1_104))
            #expect(new.status == 200 && new.json["instanceId"]?.string != id)
            #expect(new.json["expiresAt"] == .null)
        }
    }

    @Test func `an advanced clock ends instances, but does not change tokens and stated times`()
        async throws
    {
        try await Sandbox.run { sandbox in
            _ = try await sandbox.post("/sandbox/clock", ["advanceSeconds": .integer(100_000)])
            let token = try await sandbox.registrationToken(["instanceTtl": .integer(172_800)])
            let issuedAt = try RegistrationToken.inspect(token.utf8).issuedAt
            let answer = try await sandbox.register(token: token)
            _ = try await sandbox.post("/sandbox/clock", ["advanceSeconds": .integer(100_000)])
            let path = "/v1/instance/\(try #require(answer.json["instanceId"]?.string))"
            let later = try await sandbox.get(path, headers: bearer(answer.json["credential"]?.string ?? ""))

            #expect(abs(Double(issuedAt) - Date().timeIntervalSince1970) < 60)
            #expect(answer.json["expiresAt"] == .integer(issuedAt + 172_800))
            #expect(later.json["expiresAt"] == .integer(issuedAt + 72_800))
        }
    }

    @Test func `a forgotten instance cannot be extended, and the attempt does not spend the token`() async throws {
        try await Sandbox.run { sandbox in
            let first = try await sandbox.register(token: try await sandbox.registrationToken())
            let id = try #require(first.json["instanceId"]?.string)
            let forgotten = try await sandbox.post("/sandbox/sinch/users/anna/require-reauthentication")
            let token = try await sandbox.registrationToken()

            let extended = try await sandbox.register(token: token, extending: id)
            let new = try await sandbox.register(token: token)

            #expect(forgotten.json["logins"] == .integer(0))
            #expect(extended.status == 401 && extended.json["errorCode"] == .integer(1_104))
            #expect(new.status == 200)
            #expect(
                try await sandbox.counters().grants["registration"] == ["granted": 2, "forgotten": 1]
            )
        }
    }

    @Test func `the holder of the credential can delete the registration`() async throws {
        try await Sandbox.run { sandbox in
            let answer = try await sandbox.register(token: try await sandbox.registrationToken())
            let path = "/v1/instance/\(try #require(answer.json["instanceId"]?.string))"
            let credential = bearer(try #require(answer.json["credential"]?.string))

            #expect(try await sandbox.delete(path).status == 401)
            #expect(try await sandbox.delete(path, headers: credential).status == 204)
            #expect(try await sandbox.delete(path, headers: credential).json["errorCode"] == .integer(1_104))
            #expect(try await sandbox.instances().isEmpty)
        }
    }

    @Test func `without credentials the answer omits the member`() async throws {
        try await Sandbox.run { sandbox in
            _ = try await sandbox.post("/sandbox/sinch/settings", ["credentials": .bool(false)])
            let answer = try await sandbox.register(token: try await sandbox.registrationToken())
            let path = "/v1/instance/\(try #require(answer.json["instanceId"]?.string))"

            #expect(answer.json["credential"] == nil)
            #expect(try await sandbox.delete(path).status == 204)
        }
    }

    // MARK: The legacy scheme

    @Test(
        arguments: [
            ("d404a4d3-51cf-45e2-bc32-e294ae879d58", 1, "w7JPN3E6OUcIAGt5JFsNOhuF1MM="),
            ("d404a4d3-51cf-45e2-bc32-e294ae879d58", 11, "rldfLi14muct9PMS4kJky6U4ixc="),
            ("196087a1-e815-4bc4-8984-60d8d8a43f1d", 1, "4sk2/7AD0VoGke0qc1ZiJ2BtzYA="),
        ] as [(String, UInt64, String)]
    )
    func `a signature covers the text of the secret, not the decoded bytes`(
        key: String,
        sequence: UInt64,
        signature: String
    ) throws {
        let application = try SinchApplication(key: key, secretText: "oYdgGRXoxEuJhGDY2KQ/HQ==")

        #expect(application.signature(of: "foo", sequence: sequence) == signature)
    }

    @Test func `a sequence must be larger than all earlier ones, up to 64 bits`() async throws {
        try await Sandbox.run { sandbox in
            let statuses = try await [nil, "5", "5", "4", "6", "18446744073709551615", "18446744073709551615"].map {
                try await sandbox.register(sequence: $0).status
            }

            #expect(statuses == [200, 200, 401, 401, 200, 200, 401])
        }
    }

    @Test func `a signature of another user and an invalid sequence are refused`() async throws {
        try await Sandbox.run { sandbox in
            let proof = try await sandbox.post("/sandbox/sinch/users/bert/registration-signature").json
            let stolen = try await sandbox.register(proof: ["signature": proof["signature"]!, "sequence": "1"])
            let odd = try await sandbox.register(proof: ["signature": proof["signature"]!, "sequence": "1.0"])
            let both = try await sandbox.register(proof: ["signature": "s", "sequence": "1", "jwt": "t"])

            #expect(stolen.status == 401)
            #expect(odd.status == 400 && both.status == 400)
        }
    }

    @Test func `a restart with a state file keeps instances, nonces and sequences`() async throws {
        let folder = TemporaryFolder()
        let file = folder.path + "/state.json"
        let (token, credential) = try await Sandbox.run(stateFile: file) { sandbox in
            let token = try await sandbox.registrationToken(["nonce": "n"])
            let answer = try await sandbox.register(token: token)
            _ = try await sandbox.register(sequence: "9", user: "bert")
            return (token, try #require(answer.json["credential"]?.string))
        }
        let saved = try String(contentsOfFile: file, encoding: .utf8)
        #expect(!saved.contains(credential) && !saved.contains(token))

        try await Sandbox.run(stateFile: file) { sandbox in
            let again = try await sandbox.registrationToken(["nonce": "n", "ttl": .integer(700)])
            #expect(try await sandbox.instances().count == 2)
            #expect(try await sandbox.register(token: again).status == 401)
            #expect(try await sandbox.register(sequence: "9", user: "bert").status == 401)
            #expect(try await sandbox.register(sequence: nil, user: "bert").status == 200)
        }
    }
}

private func bearer(_ credential: String) -> [String: String] { ["Authorization": "Bearer \(credential)"] }

extension RegistrationToken {
    fileprivate static func inspectedEnd(of jwt: String) throws -> Double? {
        try inspect(jwt.utf8).instanceExpiresAt.map(Double.init)
    }
}

extension Sandbox {
    fileprivate func registrationToken(
        _ options: [String: JSONValue] = [:],
        for user: String = "anna"
    ) async throws -> String {
        let answer = try await post("/sandbox/sinch/users/\(user)/registration-token", .object(options))
        return try #require(answer.json["registrationToken"]?.string)
    }

    fileprivate func register(
        token: String,
        device: String = "d1",
        application: String = SinchApplication.published.key,
        extending instance: String? = nil
    ) async throws -> Answer {
        var proof: [String: JSONValue] = ["jwt": .string(token)]
        proof["instanceId"] = instance.map { .string($0) }
        return try await register(proof: proof, device: device, application: application)
    }

    /// Registers with a signature for this sequence, or for the next one if it is `nil`.
    fileprivate func register(sequence: String?, user: String = "anna") async throws -> Answer {
        let options = sequence.map { ["sequence": .string($0)] as JSONValue }
        let answer = try await post("/sandbox/sinch/users/\(user)/registration-signature", options)
        guard case .object(let proof) = answer.json else { return answer }
        return try await register(proof: proof, user: user)
    }

    fileprivate func register(
        proof: [String: JSONValue],
        user: String = "anna",
        device: String = "d1",
        application: String = SinchApplication.published.key
    ) async throws -> Answer {
        let names: [String: JSONValue] = [
            "applicationKey": .string(application), "userId": .string(user), "deviceId": .string(device),
        ]
        return try await post("/v1/instance", .object(names.merging(proof) { _, new in new }))
    }

    fileprivate func instances() async throws -> [JSONValue] {
        let all = try await get("/sandbox/sinch/logins").json["logins"]?.elements ?? []
        return all.filter { $0["isAlive"] == .bool(true) }
    }
}

extension Sequence {
    /// Maps the elements sequentially.
    fileprivate func map<Outcome>(_ body: (Element) async throws -> Outcome) async rethrows -> [Outcome] {
        var outcomes: [Outcome] = []
        for element in self { outcomes.append(try await body(element)) }
        return outcomes
    }
}
