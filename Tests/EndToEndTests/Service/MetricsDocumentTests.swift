import Foundation
import JunctionTesting
import Testing

/// Compares docs/metrics.md, the alert rules and the dashboard with the metrics of a running daemon.
struct MetricsDocumentTests {
    /// The type and the label names of a metric.
    private struct Metric: Equatable {
        var kind: String
        var labels: Set<String> = []
    }

    /// Parses the metrics text of a daemon.
    private static func metrics(in text: String) -> [String: Metric] {
        var metrics: [String: Metric] = [:]
        for line in text.split(separator: "\n") {
            if line.hasPrefix("# TYPE ") {
                let words = line.split(separator: " ")
                metrics[String(words[2])] = Metric(kind: String(words[3]))
            } else if !line.hasPrefix("#"), let sample = line.firstMatch(of: #/^([a-z_]+)\{(.*)\} /#) {
                let labels = sample.2.matches(of: #/([a-z]+)="/#).map { String($0.1) }
                metrics[String(sample.1)]?.labels.formUnion(labels)
            }
        }
        return metrics
    }

    /// Returns the metrics of a daemon that has signed a user in and issued a token.
    private func text() throws -> String {
        let installation = try Installation.started()
        try installation.signInNewUser()
        _ = try installation.token()
        // Causes an error, so that its code is in the metrics.
        _ = try? installation.connect().call("no.such.method")
        return try installation.ctl("metrics").output
    }

    @Test func `the page lists exactly the daemon's metrics with type and labels`() throws {
        let page = try Guide.text(of: "docs/metrics.md")
        let rows = page.matches(of: #/\| `(junctiond_[a-z_]+)` \| ([a-z]+) \|([^|]*)\|/#).map { row in
            let labels = row.3.matches(of: #/`([a-z]+)`/#).map { String($0.1) }
            return (String(row.1), Metric(kind: String(row.2), labels: Set(labels)))
        }
        let listed = Dictionary(rows) { $1 }
        let real = Self.metrics(in: try text())

        #expect(listed.count == rows.count)
        #expect(Set(listed.keys).symmetricDifference(real.keys) == [])
        for (name, metric) in real { #expect(listed[name] == metric, "\(name)") }
    }

    @Test func `every label value is on the page`() throws {
        let page = try Guide.text(of: "docs/metrics.md")
        let words = try text().matches(of: #/(?:state|status|phase|outcome|cause)="([A-Za-z]+)"/#).map { String($0.1) }

        #expect(words.count > 30)
        #expect(words.filter { !page.contains("`\($0)`") } == [])
    }

    @Test(arguments: ["docs/metrics/alerts.yml", "docs/metrics/dashboard.json"])
    func `rules and dashboard use only existing metrics and labels`(path: String) throws {
        let real = Self.metrics(in: try text())
        let text = try Guide.text(of: path).replacing("\\\"", with: "\"")
        var asked = 0

        for found in text.matches(of: #/(junctiond_[a-z_]+)(?:\{([^}]*)\})?/#) {
            let name = String(found.1)
            let base = ["_bucket", "_sum", "_count"].first { name.hasSuffix($0) && real[name] == nil }
                .map { String(name.dropLast($0.count)) }
            let metric = try #require(real[base ?? name], "\(name)")
            if base != nil { #expect(metric.kind == "histogram", "\(name)") }
            for label in (found.2 ?? "").matches(of: #/([a-z]+)(?:=|!=|=~)"/#).map({ String($0.1) }) {
                #expect(metric.labels.union(["job", "instance", "le"]).contains(label), "\(name) \(label)")
            }
            asked += 1
        }

        #expect(asked >= 10)
    }

    @Test func `the dashboard is JSON and every panel has a query`() throws {
        let data = Data(try Guide.text(of: "docs/metrics/dashboard.json").utf8)
        let dashboard = try #require(try JSONSerialization.jsonObject(with: data) as? Object)
        let panels = try #require(dashboard["panels"] as? [Object])

        #expect(panels.count > 10)
        for panel in panels {
            let targets = panel["targets"] as? [Object] ?? []
            #expect(!targets.isEmpty && targets.allSatisfy { ($0["expr"] as? String)?.contains("junctiond_") == true })
        }
        #expect(Set(panels.compactMap { $0["id"] as? Int }).count == panels.count)
    }

    @Test func `provider requests and issued tokens are measured`() throws {
        let text = try text()
        let requests = try #require(text.firstMatch(of: #/junctiond_provider_request_duration_seconds_count (\d+)/#))

        #expect(try #require(Int(requests.1)) >= 1)
        let byUnit = text.matches(of: #/junctiond_tokens_served_by_unit_total\{unit="[^"]*"\} (\d+)/#)
            .compactMap { Int($0.1) }
        #expect(byUnit.reduce(0, +) == 1)
        #expect(text.contains("junctiond_storage_status{status=\"ok\"} 1\n"))
        #expect(text.firstMatch(of: #/junctiond_last_renewal_timestamp_seconds [1-9]/#) != nil)
        #expect(text.firstMatch(of: #/junctiond_next_renewal_timestamp_seconds [1-9]/#) != nil)
    }
}
