import CInstruments
import Glibc

/// From exec until the service manager hears READY=1, without and with a session to bring back.
struct Start: Figure {
    static let name = "start"

    func measure(_ lab: Lab) throws -> [Row] {
        let count = lab.options.isQuick ? 5 : 50
        var rows = ["no session", "a stored session"].map {
            Row("exec → READY=1 with \($0), p50 / p90 ms", target: "≤ 5 (p50)")
        }
        rows[0].peers = try peers(lab, count)
        let bare = try starts(count, lab) { Command(BareServer.program, [lab.path("start.sock")]) }
        rows[0].bareServer = text(bare)
        rows[1].bareServer = rows[0].bareServer

        for (index, daemon) in [lab.freshDaemon(), lab.signedInDaemon()].enumerated() {
            guard let daemon else { continue }
            let command = daemon.command
            daemon.process.stop()
            let times = try starts(count, lab) { command }
            rows[index].junctiond = text(times)
            rows[index].judge(times.median <= 5)
        }
        return rows
    }

    private func starts(_ count: Int, _ lab: Lab, _ command: () throws -> Command) throws -> [Double] {
        let path = lab.path("notify.sock")
        let notify = instruments_notify_socket(path)
        if notify < 0 { try check(-notify, path) }
        defer { close(notify) }
        let log = lab.path("start.log")
        return try (0..<count).map { _ in
            var command = try command()
            command.environment["NOTIFY_SOCKET"] = path
            let process = try ChildProcess(command, log: log)
            var at: Int64 = 0
            try check(instruments_await_ready(notify, 10_000, &at), "waiting for READY=1 of \(command.program)")
            process.stop()
            return Double(at - process.startedAt) / 1e6
        }
    }

    /// None of them notifies: from exec until it accepts.
    private func peers(_ lab: Lab, _ count: Int) throws -> String {
        try lab.peers().map { peer in
            let times = try (0..<count).map { _ in
                let launched = try type(of: peer).launch(lab)
                defer { launched.process.stop() }
                return launched.startTime
            }
            return (name: peer.name, text: text(times))
        }.peerText
    }

    private func text(_ times: [Double]) -> String { "\(times.median.text) / \(times.percentile(90).text)" }
}
