import JunctionSecret
import JunctionSession
import Testing

@testable import JunctionProviders

struct TeamApiKeyTests {
    @Test(arguments: [
        ("sk_us_abc", nil, nil, JunctionSite(.sandbox, .us)),
        ("pk_eu_abc", nil, nil, JunctionSite(.production, .eu)),
        ("pk_eu_abc", "Production", "EU", JunctionSite(.production, .eu)),
        ("sk_us_abc", "dev", nil, JunctionSite(.dev, .us)),
        ("something", "stg", "eu", JunctionSite(.sandbox, .eu)),
    ])
    func `the site comes from the members or from the prefix of the key`(
        key: String,
        environment: String?,
        region: String?,
        site: JunctionSite
    ) throws {
        #expect(try read(key, environment: environment, region: region).site == site)
    }

    @Test(
        arguments: [
            ("pk_us_abc", "sandbox", nil), ("sk_us_abc", nil, "eu"), ("sk_eu_abc", "production", "eu"),
            ("sk_us_abc", "dev", "eu"), ("something", "staging", "us"), ("something", "sandbox", "asia"),
        ] as [(String, String?, String?)]
    )
    func `a contradictory or unknown site is misdescribed, and the error does not repeat the key`(
        key: String,
        environment: String?,
        region: String?
    ) throws {
        let refused = #expect(throws: CredentialRefused.self) {
            try read(key, environment: environment, region: region)
        }

        let reason = try #require(refused?.reasonIfMisdescribed)
        #expect(!reason.contains("abc"))
    }

    @Test(arguments: ["", "sk_us_abc\n", "sk_us_abc def", "sk_us_\r\nhost: evil", "sk_us_é"])
    func `a key that cannot be a header value is malformed`(key: String) throws {
        let refused = #expect(throws: CredentialRefused.self) { try read(key) }

        let reason = try #require(refused?.reasonIfMalformed)
        #expect(!reason.contains("abc"))
    }

    @Test(arguments: [("something", nil, "us"), ("something", "sandbox", nil)] as [(String, String?, String?)])
    func `a key without a known site is incomplete`(key: String, environment: String?, region: String?) {
        let refused = #expect(throws: CredentialRefused.self) {
            try read(key, environment: environment, region: region)
        }

        #expect(refused == .incomplete(refused?.reason ?? ""))
    }

    @Test func `a user id without a key uses the configured key`() throws {
        let apiKey = try read(nil, userId: Sample.userId.uppercased(), configured: ("sandbox", "eu"))

        #expect(apiKey.site == JunctionSite(.sandbox, .eu))
        #expect(apiKey.userId == Sample.userId)
    }

    @Test func `a user id without a key is incomplete if no key is configured`() {
        let refused = #expect(throws: CredentialRefused.self) {
            try read(nil, userId: Sample.userId, environment: "sandbox", region: "us")
        }

        #expect(refused == .incomplete("An API key is needed: none is configured"))
    }

    @Test func `the configured key is refused for another site`() {
        let words =
            "The API key is for sandbox in eu, and the sign-in names another environment or region: leave them out"
        #expect(throws: CredentialRefused.misdescribed(words)) {
            try read(nil, userId: Sample.userId, environment: "dev", configured: ("sandbox", "eu"))
        }
    }

    @Test(arguments: ["", "me", "c36d4df5e373425daae78b091b003ddd", "c36d4df5-e373-425d-aae7-8b091b003ddg", "../user"])
    func `a user id that is not a UUID is malformed`(userId: String) {
        let refused = #expect(throws: CredentialRefused.self) { try read("sk_us_abc", userId: userId) }

        #expect(refused == .misdescribed("The user id must be a UUID: Junction's own, not the one of your backend"))
    }

    private func read(
        _ key: String?,
        userId: String? = nil,
        environment: String? = nil,
        region: String? = nil,
        configured: (environment: String, region: String)? = nil
    ) throws -> TeamApiKey {
        try TeamApiKey(
            key: key.map { SharedSecret(text: $0) },
            userId: userId,
            environment: environment,
            region: region,
            configured: configured
        )
    }
}
