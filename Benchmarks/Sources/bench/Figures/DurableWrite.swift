import CInstruments

/// The time until a record is on disk, before any app sees it: a sign-out is one such write and a round trip. The
/// measurement alternates with the minimal system calls of such a write.
struct DurableWrite: Figure {
    static let name = "durable-write"

    func measure(_ lab: Lab) throws -> [Row] {
        guard let daemon = lab.signedInDaemon() else { return [] }
        let control = try daemon.connect()
        let bare = try BareSequence(in: lab.folder("durable"))
        var (bareWrites, signOuts): ([Double], [Double]) = ([], [])
        for round in 0..<(lab.options.isQuick ? 10 : 100) {
            if round > 0 { try daemon.signIn(control) }
            bareWrites.append(try microseconds { try bare.write() })
            signOuts.append(try microseconds { try control.call("session.signOut") })
        }
        var row = Row("session.signOut, which writes the record, p50 / p99 µs", target: "–")
        let (ours, theirs) = (Timings(signOuts), Timings(bareWrites))
        row.bareServer = theirs.text
        row.junctiond = "\(ours.text) (\((ours.p50 / theirs.p50).text)× / \((ours.p99 / theirs.p99).text)×)"
        return [row]
    }

    private func microseconds(_ work: () throws -> Void) rethrows -> Double {
        let start = instruments_now()
        try work()
        return Double(instruments_now() - start) / 1e3
    }
}
