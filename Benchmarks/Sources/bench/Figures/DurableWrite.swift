import CInstruments
import Glibc

/// What it costs to have the record on disk before anybody hears of it.
struct DurableWrite: Figure {
    static let name = "durable-write"

    func measure(_ lab: Lab) throws -> [Row] {
        var rows: [Row] = []
        if let row = lab.attempt("durable write", { try insideProcess(lab) }) { rows.append(row) }
        if let daemon = lab.signedInDaemon() { rows.append(try wholeSignOut(daemon, lab)) }
        return rows
    }

    /// The vault's own write and the system calls that it cannot do without, in one process, in turn.
    private func insideProcess(_ lab: Lab) throws -> Row {
        var row = Row("durable write of the record, in the process, p50 / p99 µs", target: "≤ 1.25× C")
        let count = lab.options.isQuick ? 100 : 2_000
        let probe = Command(try lab.program("vault-probe"), [try lab.folder("durable"), "\(count)"])
        let times = try probe.run(within: 300).split(separator: "\n").map { line in
            try line.split(separator: " ").map { text in
                guard let nanoseconds = Double(text) else { throw Trouble("vault-probe says: \(line)") }
                return nanoseconds / 1e3
            }
        }
        guard times.count == count, times.allSatisfy({ $0.count == 2 }) else {
            throw Trouble("vault-probe says too little")
        }
        let (vault, bare) = (Timings(times.map { $0[0] }), Timings(times.map { $0[1] }))
        row.bareServer = bare.text
        row.junctiond = "\(vault.text) (\((vault.p50 / bare.p50).text)× / \((vault.p99 / bare.p99).text)×)"
        row.judge(vault.p50 <= 1.25 * bare.p50, vault.p99 <= 1.25 * bare.p99)
        return row
    }

    /// One such write and a round trip, as a caller sees it.
    private func wholeSignOut(_ daemon: Junctiond, _ lab: Lab) throws -> Row {
        var row = Row("session.signOut, from outside, p50 / p99 µs", target: "–")
        let control = try daemon.connect()
        let times = try (0..<(lab.options.isQuick ? 10 : 100)).map { round in
            if round > 0 { try daemon.signIn(control) }
            let start = instruments_now()
            try control.call("session.signOut")
            return Double(instruments_now() - start) / 1e3
        }
        row.junctiond = Timings(times).text
        return row
    }
}
