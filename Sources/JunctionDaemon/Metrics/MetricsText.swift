import JunctionProtocol
package import JunctionServer
package import JunctionSession
package import JunctionText

extension Metrics {
    /// The values that are measured at the moment of the request.
    package struct Gauges: Sendable {
        package var snapshot: JunctionSession.Snapshot
        /// The counters of the sockets and the connections.
        package var counters: ServerCounters
        package var uptime: Duration
        /// Nil if the system does not provide it.
        package var residentBytes: Int?
    }

    /// Returns all metrics in the text format of Prometheus. Those of a named installation have its name as a label, so
    /// that a file with the metrics of several installations has no sample twice.
    package func text(_ gauges: Gauges, of instance: InstanceName = .plain) -> String {
        var text = PrometheusText(labels: instance == .plain ? [] : [("installation", instance.description)])
        text.announce(.buildInfo)
        text.add(1, [("version", Version.number), ("provider", gauges.snapshot.facts.provider)])
        text.add(.uptime, gauges.uptime.wholeMilliseconds / 1_000)
        if let bytes = gauges.residentBytes { text.add(.residentMemory, bytes) }
        add(gauges.snapshot, to: &text)
        addCounters(to: &text)
        add(gauges.counters, to: &text)
        return text.text
    }

    private func add(_ snapshot: JunctionSession.Snapshot, to text: inout PrometheusText) {
        text.announce(.state)
        for state in SessionState.allCases {
            text.add(snapshot.facts.state == state ? 1 : 0, [("state", state.rawValue)])
        }
        text.add(.revision, snapshot.revision)
        text.announce(.storage)
        for status in StorageStatus.allCases {
            text.add(snapshot.facts.storage.status == status ? 1 : 0, [("status", status.rawValue)])
        }
        text.add(.durable, snapshot.facts.storage.durable ? 1 : 0)
        text.add(.reauthentication, snapshot.facts.flags.contains(.pendingReauthentication) ? 1 : 0)
        text.add(.expiry, (snapshot.facts.accessToken?.expiresAt.milliseconds ?? 0) / 1_000)
        text.add(.lastRenewal, (snapshot.facts.accessToken?.issuedAt.milliseconds ?? 0) / 1_000)
        text.announce(.phase)
        for phase in RenewalPhase.allCases {
            text.add(snapshot.facts.renewal.phase == phase ? 1 : 0, [("phase", phase.rawValue)])
        }
        text.add(.nextRenewal, (snapshot.facts.renewal.notBefore?.milliseconds ?? 0) / 1_000)
        text.add(.failures, snapshot.facts.renewal.failures)
    }

    private func addCounters(to text: inout PrometheusText) {
        text.announce(.exchanges)
        for outcome in SessionEvent.Outcome.allCases { text.add(exchanges(outcome), [("outcome", outcome.rawValue)]) }
        text.announce(.renewals)
        for outcome in SessionEvent.Outcome.allCases { text.add(renewals(outcome), [("outcome", outcome.rawValue)]) }
        text.announce(.failedRenewals)
        for cause in Unavailability.Cause.allCases { text.add(failedRenewals(cause), [("cause", cause.rawValue)]) }
        text.add(.providerRequests, providerRequests)
        text.announce(.clockSkew)
        text.add(thousandths: clockSkew)
        text.add(.signOuts, signOuts)
        text.announce(.writes)
        text.add(writesSucceeded, [("outcome", "succeeded")])
        text.add(writesFailed, [("outcome", "failed")])
    }

    private func add(_ counters: ServerCounters, to text: inout PrometheusText) {
        text.add(.tokensServed, counters.tokensServed)
        text.announce(.tokensOfUnits)
        for tokens in counters.tokensOfUnits { text.add(tokens.count, [("unit", tokens.unit)]) }
        text.add(.tokenWaits, counters.tokenWaits)
        text.announce(.requests)
        for method in Method.allCases { text.add(counters.requests(of: method), [("method", method.name.description)]) }
        text.announce(.errors)
        for (code, count) in counters.errors.sorted(by: { $0.key < $1.key }) { text.add(count, [("code", "\(code)")]) }
        text.add(.refusals, counters.refusals)
        text.add(.turnedAway, counters.turnedAwayConnections)
        text.add(.accepted, counters.acceptedConnections)
        text.add(.connections, counters.openConnections)
        text.add(.watchers, counters.watchers)
        text.add(.handlers, counters.handlers)
    }
}
