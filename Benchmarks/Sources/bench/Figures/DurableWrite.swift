import CInstruments
import Glibc

/// What it costs to have the record on disk before anybody hears of it.
struct DurableWrite: Figure {
    static let name = "durable-write"

    private static let recordSize = 1_500

    func measure(_ lab: Lab) throws -> [Row] {
        var row = Row("durable write of the record, p50 / p99 µs", target: "≤ 450 / 700, or 1.25× C")
        let folder = try lab.folder("durable")
        var bare: [Timings] = []
        for _ in 0..<lab.rounds {
            var timings = timings()
            let count: UInt32 = lab.options.isQuick ? 50 : 500
            try check(instruments_durable_writes(folder, Self.recordSize, count, &timings), "writing to \(folder)")
            bare.append(Timings(timings))
        }
        let floor = Timings(medianOf: bare)
        row.bareServer = floor.text
        guard let daemon = lab.signedInDaemon() else { return [row] }

        let control = try daemon.connect()
        let times = try (0..<(lab.options.isQuick ? 10 : 100)).map { round in
            if round > 0 { try daemon.signIn(control) }
            let start = instruments_now()
            try control.call("session.signOut")
            return Double(instruments_now() - start) / 1e3
        }
        row.junctiond = "≤ \(times.median.text) / \(times.percentile(99).text)"
        row.judge(
            times.median <= max(450, 1.25 * floor.p50),
            times.percentile(99) <= max(700, 1.25 * floor.p99)
        )
        lab.note("durable write: junctiond's is a whole sign-out seen from outside, so it is less than that")
        return [row]
    }
}
