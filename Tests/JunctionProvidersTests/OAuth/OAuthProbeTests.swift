import JunctionSession
import Testing

@testable import JunctionProviders

struct OAuthProbeTests {
    private static func findings(
        _ steps: @escaping (String) -> [ScriptedServer.Step],
        configured: Bool = false
    ) async throws -> [ProbeFinding] {
        var findings: [ProbeFinding] = []
        try await Stage.play([]) { stage in
            stage.server.script(steps(stage.server.url))
            let endpoint: [String: ProviderSetting.Value] = ["tokenEndpoint": .text(stage.server.url + "/token")]
            findings = try await stage.discovering(configured ? endpoint : [:]).probe(nil)
        }
        return findings
    }

    @Test func `a server that is the configured issuer is fine, and its clock is compared`() async throws {
        let findings = try await Self.findings { url in
            let metadata = #"{"issuer":"\#(url)","revocation_endpoint":"\#(url)/revoke"}"#
            return [.answer(200, [("date", "Sat, 21 Nov 2026 11:50:00 GMT")], metadata)]
        }

        #expect(findings.map(\.name) == ["provider metadata", "provider clock"])
        #expect(findings.map(\.verdict) == [.ok, .problem])
    }

    @Test func `a server without a revocation endpoint is noted`() async throws {
        let findings = try await Self.findings { url in [.json(200, #"{"issuer":"\#(url)"}"#)] }

        #expect(findings.map(\.name) == ["provider metadata", "provider revocation"])
        #expect(findings.last?.verdict == .note)
    }

    @Test func `another issuer is a problem, with both names and the remedy`() async throws {
        let findings = try await Self.findings { url in
            [.json(200, #"{"issuer":"\#(url)/"}"#), .json(200, #"{"issuer":"\#(url)/"}"#)]
        }

        #expect(findings.map(\.verdict) == [.problem])
        #expect(findings.first?.remedy == "Set oauth.issuer to what the server says, to the letter")
    }

    @Test(arguments: [false, true])
    func `missing metadata is a problem, unless the endpoints are configured`(configured: Bool) async throws {
        let findings = try await Self.findings(
            { _ in [.answer(404, [], ""), .answer(404, [], "")] },
            configured: configured
        )

        #expect(findings.first?.verdict == (configured ? .ok : .problem))
    }

    @Test func `an unreachable server is a problem`() async throws {
        let findings = try await Self.findings { _ in [.answer(500, [], "")] }

        #expect(findings.map(\.verdict) == [.problem])
    }

    @Test func `each request of the probe is permitted before it is sent`() async throws {
        try await Stage.play([]) { stage in
            let findings = try await stage.discovering().probe(nil) { SessionError(.busy, "Too many calls") }

            #expect(findings.map(\.verdict) == [.note])
            #expect(stage.server.requests.isEmpty)
        }
    }
}
