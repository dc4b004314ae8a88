import JunctionProviders
import JunctionServer
import JunctionSession
import JunctionText
import Testing

@testable import JunctionDaemon

@Suite struct MetricsTests {
    private var snapshot: JunctionSession.Snapshot {
        var facts = JunctionSession.Snapshot.Facts(
            state: .established,
            provider: "junction",
            storage: JunctionSession.StorageReport(sealedWith: "file", durable: false)
        )
        facts.accessToken = TokenFacts(
            issuedAt: WallTime(milliseconds: 1_700_000_000_000),
            expiresAt: WallTime(milliseconds: 1_700_003_600_999),
            generation: 3
        )
        facts.renewal.failures = 2
        return JunctionSession.Snapshot(revision: 17, changedAt: WallTime(milliseconds: 0), facts: facts)
    }

    private func lines(_ metrics: Metrics, of instance: InstanceName = .plain) -> [Substring] {
        let gauges = Metrics.Gauges(
            snapshot: snapshot,
            counters: ServerCounters(),
            uptime: .milliseconds(61_999),
            residentBytes: 12_345_678
        )
        return metrics.text(gauges, of: instance).split(separator: "\n", omittingEmptySubsequences: false)
    }

    @Test func `the metrics contain the gauges`() {
        let lines = lines(Metrics())

        #expect(lines.contains("junctiond_build_info{version=\"0.1.0\",provider=\"junction\"} 1"))
        #expect(lines.contains("junctiond_uptime_seconds 61"))
        #expect(lines.contains("junctiond_resident_memory_bytes 12345678"))
        #expect(lines.contains("junctiond_session_revision 17"))
        #expect(lines.contains("junctiond_session_durable 0"))
        #expect(lines.contains("junctiond_access_token_expiry_timestamp_seconds 1700003600"))
        #expect(lines.contains("junctiond_renewal_failures 2"))
        #expect(lines.contains("junctiond_session_handlers 0"))
    }

    @Test func `every sample of a named installation has its name as a label`() throws {
        let work = try #require(InstanceName("work"))

        let samples = lines(Metrics(), of: work).filter { !$0.hasPrefix("#") && !$0.isEmpty }

        #expect(samples.allSatisfy { $0.contains("installation=\"work\"} ") })
        #expect(samples.contains("junctiond_session_revision{installation=\"work\"} 17"))
        #expect(samples.contains("junctiond_token_wait_seconds_bucket{le=\"+Inf\",installation=\"work\"} 0"))
        #expect(!lines(Metrics()).contains { $0.contains("installation") })
    }

    @Test func `exactly one session state has the value 1`() {
        let states = lines(Metrics()).filter { $0.hasPrefix("junctiond_session_state{") }

        #expect(states.count == SessionState.allCases.count)
        #expect(states.filter { $0.hasSuffix(" 1") } == ["junctiond_session_state{state=\"established\"} 1"])
    }

    @Test func `events are counted by outcome, and each outcome begins at 0`() {
        var metrics = Metrics()

        for outcome in SessionEvent.Outcome.allCases { metrics.happened(.renewalEnded(outcome)) }
        metrics.happened(.renewalEnded(.unavailable))
        metrics.happened(.exchangeEnded(.refused))
        metrics.happened(.signedOut)
        metrics.writeEnded(durably: true)
        metrics.writeEnded(durably: true)
        metrics.writeEnded(durably: false)

        let lines = lines(metrics)
        #expect(lines.contains("junctiond_renewals_total{outcome=\"unavailable\"} 2"))
        #expect(lines.contains("junctiond_renewals_total{outcome=\"terminated\"} 1"))
        #expect(lines.contains("junctiond_exchanges_total{outcome=\"refused\"} 1"))
        #expect(lines.contains("junctiond_exchanges_total{outcome=\"succeeded\"} 0"))
        #expect(lines.contains("junctiond_sign_outs_total 1"))
        #expect(lines.contains("junctiond_writes_total{outcome=\"succeeded\"} 2"))
        #expect(lines.contains("junctiond_writes_total{outcome=\"failed\"} 1"))
    }

    @Test func `every series is announced once, before its samples`() {
        var announced: Set<Substring> = []
        var current: Substring = ""
        for line in lines(Metrics()).dropLast() {
            let words = line.split(separator: " ", maxSplits: 3)
            if line.hasPrefix("# HELP ") {
                current = words[2]
                #expect(announced.insert(current).inserted)
                #expect(current.hasPrefix("junctiond_"))
            } else if line.hasPrefix("# TYPE ") {
                #expect(words[2] == current)
                #expect((words[3] == "counter") == current.hasSuffix("_total"))
            } else {
                let name = line.prefix { $0 != "{" && $0 != " " }
                let isHistogram = ["_bucket", "_sum", "_count"].contains { name == current + $0 }
                #expect(name == current || isHistogram)
                #expect(Double(line.split(separator: " ").last ?? "") != nil)
            }
        }
        #expect(announced.count >= 12)
        #expect(lines(Metrics()).last == "")
    }

    @Test func `the metrics have failures by cause, request durations and the clock skew`() {
        var metrics = Metrics()

        metrics.happened(.renewalEnded(.unavailable, Unavailability("No answer", cause: .timeout)))
        metrics.requestEnded(.init(duration: .milliseconds(30), clockSkew: .milliseconds(-1_250)))
        metrics.requestEnded(.init(duration: .seconds(12)))

        let lines = lines(metrics)
        #expect(lines.contains("junctiond_failed_renewals_total{cause=\"timeout\"} 1"))
        #expect(lines.contains("junctiond_failed_renewals_total{cause=\"name\"} 0"))
        #expect(lines.contains("junctiond_provider_request_duration_seconds_bucket{le=\"0.025\"} 0"))
        #expect(lines.contains("junctiond_provider_request_duration_seconds_bucket{le=\"0.05\"} 1"))
        #expect(lines.contains("junctiond_provider_request_duration_seconds_bucket{le=\"+Inf\"} 2"))
        #expect(lines.contains("junctiond_provider_request_duration_seconds_sum 12.03"))
        #expect(lines.contains("junctiond_provider_request_duration_seconds_count 2"))
        #expect(lines.contains("junctiond_clock_skew_seconds -1.25"))
    }

    @Test(arguments: [(0, "0"), (5, "0.005"), (250, "0.25"), (1_000, "1"), (-60_500, "-60.5"), (-1, "-0.001")])
    func `thousandths are written without trailing zeros`(value: Int64, text: String) {
        #expect(PrometheusText.decimal(thousandths: value) == text)
    }

    @Test func `the value of a label is escaped`() {
        var text = PrometheusText()

        text.announce(.connections)
        text.add(1, [("name", "a\"b\\c\nd")])

        #expect(text.text.hasSuffix("junctiond_connections{name=\"a\\\"b\\\\c\\nd\"} 1\n"))
    }
}
