import JunctionSession
import Testing

@testable import JunctionProviders

struct SocialCloudTests {
    @Test(arguments: SocialCloud.Region.allCases)
    func `each region has its own host`(region: SocialCloud.Region) throws {
        #expect(try SocialCloud(region: region).api.url == "https://apix.\(region.rawValue).amity.co")
    }

    @Test func `an override replaces the host`() throws {
        #expect(try SocialCloud(region: .us, apiUrl: "http://127.0.0.1:8787/").api.url == "http://127.0.0.1:8787")
    }

    @Test func `plain http is allowed on loopback only`() {
        let fault = #expect(throws: ProviderConfigurationFault.self) {
            try SocialCloud(region: .us, apiUrl: "http://example.com")
        }
        #expect(fault?.message.hasPrefix("social.apiUrl: http://example.com is not encrypted") == true)
    }

    @Test func `doctor reports the host, the clock and the key`() async throws {
        try await Stage.play([.answer(404, [("date", "Sat, 21 Nov 2026 11:59:00 GMT")], "")]) { stage in
            let findings = try await stage.social.probe(nil)

            #expect(stage.server.requests.map(\.line) == ["HEAD / HTTP/1.1"])
            #expect(findings.map(\.name) == ["provider API", "provider clock", "provider API key"])
            #expect(findings.map(\.verdict) == [.ok, .note, .ok])
        }
    }

    @Test func `doctor sends no request for a caller without calls left, and reports that`() async throws {
        try await Stage.play([]) { stage in
            let social = try stage.social

            let findings = await social.probe(nil) { SessionError(.busy, "This caller has reached its limit") }

            #expect(findings.first?.verdict == .note)
            #expect(findings.first?.detail.contains("was not asked: This caller has reached its limit") == true)
            #expect(stage.server.requests.isEmpty)
        }
    }

    @Test func `a missing key is a problem with a remedy`() async throws {
        try await Stage.play([.answer(200, [], "")]) { stage in
            let social = try SocialProvider.sample(
                url: stage.server.url,
                apiKey: nil,
                http: stage.http,
                clock: stage.clock
            )
            let findings = await social.probe(nil)

            #expect(findings.map(\.verdict) == [.ok, .problem])
            #expect(findings.last?.remedy?.contains("social.apiKeyFile") == true)
        }
    }
}
