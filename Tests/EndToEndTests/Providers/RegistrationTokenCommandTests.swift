import Foundation
import JunctionTesting
import Testing

/// Tests of `junction-sandbox mint-registration-token` and `verify-registration-token` in several time zones.
struct RegistrationTokenCommandTests {
    static let zones = ["Pacific/Kiritimati", "America/St_Johns", "UTC"]

    /// The token of the documentation, with the claims in the documented order.
    private static let documented =
        "eyJhbGciOiJIUzI1NiIsImtpZCI6ImhrZGZ2MS0yMDE4MDEwMiJ9."
        + "eyJpc3MiOiIvL3J0Yy5zaW5jaC5jb20vYXBwbGljYXRpb25zL2EzMmU1YThkLWY3ZDgtNDExYy05NjQ1LTkwMzhlOGRkMDUxZCIsInN1"
        + "YiI6Ii8vcnRjLnNpbmNoLmNvbS9hcHBsaWNhdGlvbnMvYTMyZTVhOGQtZjdkOC00MTFjLTk2NDUtOTAzOGU4ZGQwNTFkL3VzZXJzL2Zv"
        + "byIsImlhdCI6MTUxNDg2MjI0NSwiZXhwIjoxNTE0ODYyODQ1LCJub25jZSI6IjZiNDM4YmRhLTJkNWMtNGU4Yy05MmIwLTM5ZjIwYTk0"
        + "YjM0ZSJ9.EUltTTD4fxhkwCgLgj6qSQXKawpwQ952Ywm3OwQSARo"

    private let folder: TemporaryFolder
    private let application: [String]

    init() throws {
        folder = TemporaryFolder()
        let secret = try folder.write(Installation.sinchSecret + "\n", to: "secret")
        application = ["--application-key", Installation.sinchApplication, "--secret-file", secret]
    }

    private func mint(_ options: [String], zone: String = "UTC") throws -> String {
        let ending = try Program(
            "junction-sandbox",
            ["mint-registration-token"] + application + ["--user", "foo"] + options,
            in: folder,
            environment: ["TZ": zone]
        ).wait()
        guard ending.status == 0 else { throw TestFailure(description: ending.errors) }
        return ending.output
    }

    private func verify(_ token: String, at time: String, zone: String = "UTC") throws -> Program.Ending {
        try Program(
            "junction-sandbox",
            ["verify-registration-token"] + application + ["--at", time],
            in: folder,
            environment: ["TZ": zone],
            input: token
        ).wait()
    }

    @Test(
        arguments: zones,
        [
            ("2026-03-28T23:59:59Z", "1774742399", "hkdfv1-20260328"),
            ("2026-03-29T00:00:00Z", "1774742400", "hkdfv1-20260329"),
            ("2023-12-31T23:59:59Z", "1704067199", "hkdfv1-20231231"),
            ("2024-02-29T23:59:59Z", "1709251199", "hkdfv1-20240229"),
        ]
    )
    func `the signing key uses the UTC date of iat, also around midnight`(
        zone: String,
        moment: (time: String, seconds: String, keyId: String)
    ) throws {
        let nonce = ["--nonce", "n"]
        let token = try mint(["--issued-at", moment.time] + nonce, zone: zone)

        #expect(try part(0, of: token)["kid"] as? String == moment.keyId)
        #expect(try part(1, of: token)["iat"] as? Int == Int(moment.seconds))
        #expect(try mint(["--issued-at", moment.seconds] + nonce) == token)
        #expect(try verify(token, at: moment.time, zone: zone).output == "valid\n")
        // After midnight, the token is still verified with the key of the day of its creation.
        let later = String(try #require(Int(moment.seconds)) + 300)
        #expect(try verify(token, at: later, zone: zone).output == "valid\n")
    }

    @Test func `the published test vector is created byte for byte`() throws {
        let token = try mint(["--issued-at", "1514862245", "--nonce", "6b438bda-2d5c-4e8c-92b0-39f20a94b34e"])

        #expect(token.hasSuffix(".10N-QAvRK0-dacox5X5YusK7C0AWb-kZLiNNTKLQw8I\n"))
        #expect(try verify(token, at: "1514862300").output == "valid\n")
    }

    @Test func `each broken rule is named, with exit code 1`() throws {
        let cloud = try Installation()
        let other = "//rtc.sinch.com/applications/other"
        let broken: [(rule: String, options: Object)] = [
            ("algorithm", ["header": ["alg": "none"]]), ("keyIdForm", ["header": ["kid": "20180102"]]),
            ("keyIdDate", ["header": ["kid": "hkdfv1-20180103"]]), ("issuer", ["claims": ["iss": "sinch"]]),
            ("subject", ["claims": ["sub": "foo"]]), ("subjectApplication", ["claims": ["sub": other + "/users/foo"]]),
            ("issuedAt", ["claims": ["iat": "now"]]), ("expiresAt", ["claims": ["exp": NSNull()]]),
            ("timeToLive", ["claims": ["exp": 1_514_862_304]]), ("nonce", ["claims": ["nonce": ""]]),
            ("instanceExpiry", ["claims": ["sinch:rtc:instance:exp": 1_515_035_044]]), ("signature", ["forged": true]),
            ("application", ["claims": ["iss": other, "sub": other + "/users/foo"]]),
        ]
        for (rule, options) in broken {
            let wished = options.merging(["issuedAt": 1_514_862_245]) { $1 }
            let ending = try verify(cloud.registrationToken(for: "foo", wished), at: "1514862300")
            #expect(ending.status == 1, "\(rule)")
            #expect(ending.output.hasPrefix("invalid: \(rule): "), "\(rule): \(ending.output)")
        }
        for (rule, token, time) in [
            ("form", "no token", "1514862300"), ("notYetValid", Self.documented, "1514862184"),
            ("expired", Self.documented, "1514862906"),
        ] {
            let ending = try verify(token, at: time)
            #expect(ending.status == 1, "\(rule)")
            #expect(ending.output.hasPrefix("invalid: \(rule): "), "\(rule): \(ending.output)")
        }
    }

    @Test(arguments: [
        ["--ttl", "59"], ["--instance-ttl", "172799"], ["--user", "f oo"], ["--issued-at", "yesterday"],
    ])
    func `a token that would break a rule is not created`(options: [String]) throws {
        let ending = try Program(
            "junction-sandbox",
            ["mint-registration-token"] + application + (options[0] == "--user" ? [] : ["--user", "foo"]) + options,
            in: folder
        ).wait()

        #expect(ending.status == 64)
        #expect(ending.output == "")
    }

    private func part(_ index: Int, of token: String) throws -> Object {
        let parts = token.split(separator: ".")
        try #require(parts.count == 3)
        var text = parts[index].replacing("-", with: "+").replacing("_", with: "/")
        text += String(repeating: "=", count: (4 - text.count % 4) % 4)
        let data = try #require(Data(base64Encoded: String(text)))
        return try JSONSerialization.jsonObject(with: data) as? Object ?? [:]
    }
}
