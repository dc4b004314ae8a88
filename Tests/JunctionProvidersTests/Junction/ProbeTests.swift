import JunctionSession
import Testing

@testable import JunctionProviders

struct ProbeTests {
    @Test func `both hosts are probed, and the clock is compared`() async throws {
        let step = ScriptedServer.Step.answer(404, [("date", "Sat, 21 Nov 2026 11:59:00 GMT")], "")
        try await Stage.play([step, step]) { stage in
            let findings = try await stage.junction.probe(Sample.identity)

            #expect(stage.server.requests.map(\.line) == ["HEAD / HTTP/1.1", "HEAD / HTTP/1.1"])
            #expect(
                findings.map(\.name) == ["provider auth", "provider API", "provider clock", "provider credentials"]
            )
            #expect(findings.map(\.verdict) == [.ok, .ok, .note, .ok])
            #expect(findings[2].detail == "The clock is 60 s ahead of the provider's")
        }
    }

    @Test func `an unreachable host is a problem with a remedy`() async throws {
        try await Stage.play([]) { stage in
            let junction = try stage.junction
            try await stage.server.refuse()
            let findings = await junction.probe(Sample.identity)

            #expect(findings.map(\.verdict) == [.problem, .problem, .ok])
            #expect(findings[0].detail == "Connection refused by \(stage.server.place)")
            #expect(findings[0].remedy == "is it running?")
        }
    }

    @Test func `before a sign-in no host may be known`() async throws {
        try await Stage.play([]) { stage in
            let junction = JunctionProvider(cloud: try JunctionCloud(), http: stage.http, clock: stage.clock)

            #expect(await junction.probe(nil).map(\.verdict) == [.note, .ok])
        }
    }

    @Test(
        arguments: [
            (0, .ok), (30, .ok), (-30, .ok), (31, .note), (-31, .note), (300, .note), (301, .problem),
            (-86_400, .problem),
        ] as [(Int, ProbeFinding.Verdict)]
    )
    func `30 s of clock difference are fine, and more than 300 s are a problem`(
        seconds: Int,
        verdict: ProbeFinding.Verdict
    ) {
        #expect(ProbeFinding.clock(ahead: .seconds(seconds)).verdict == verdict)
    }
}
