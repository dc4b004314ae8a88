/// The same requests while a renewal waits for a provider that does not answer.
struct HangingProvider: Figure {
    static let name = "hanging-provider"

    /// The relative variation of a figure between runs.
    private static let tolerance = 1.15

    func measure(_ lab: Lab) throws -> [Row] {
        var rows = ["session.status", "token.get"].map {
            Row("\($0) while the provider hangs, same CPU, p50 / p99 µs", target: "unchanged (+15 % / +50 %)")
        }
        if let oidc = rows.indices.last { rows[oidc].peers = try oidcAgent(lab) }
        guard let daemon = lab.signedInDaemon(), let sandbox = daemon.sandbox else { return rows }

        try lab.processors.share(with: daemon.processes)
        defer { try? lab.processors.roam([]) }
        let before = try measure(daemon, lab)
        try sandbox.hang()
        let renewal = try daemon.connect()
        try renewal.send("session.renew")
        let during = try measure(daemon, lab)
        let phase = try daemon.renewalPhase()
        guard phase == "inFlight" else { throw Trouble("the renewal was not held up: it is \(phase)") }
        try sandbox.recover()

        for index in rows.indices {
            let (before, during) = (before[index], during[index])
            rows[index].junctiond = "\(during.text) (else \(before.text))"
            rows[index].judge(during.p50 <= Self.tolerance * before.p50, during.p99 <= 1.5 * before.p99)
        }
        return rows
    }

    private func measure(_ daemon: Junctiond, _ lab: Lab) throws -> [Timings] {
        try ["session.status", "token.get"].map { method in
            let rounds = try (0..<lab.rounds).map { _ in
                try daemon.exchange(method).roundTrips(lab.options.isQuick ? 2_000 : 10_000)
            }
            return Timings(medianOf: rounds)
        }
    }

    /// A separate daemon, which may be unusable afterwards.
    private func oidcAgent(_ lab: Lab) throws -> String {
        guard lab.peers().contains(where: { $0 is OidcAgent }) else { return "–" }
        let patience = lab.options.isQuick ? 3.0 : 20.0
        let answer = try OidcAgent(lab).timeToOutputWhileProviderHangs(
            within: patience,
            log: lab.path("oidc-token.log")
        )
        return "oidc-agent "
            + (answer.map { "\(($0 / 1_000).text) s" } ?? "none as long as it hangs (\(Int(patience)) s)")
    }
}
