import CInstruments
import Glibc

/// The time from exec to READY=1, without and with a stored session.
struct Start: Figure {
    static let name = "start"

    /// The limit relative to ssh-agent's time from exec to accepting.
    private static let limit = 2.2

    func measure(_ lab: Lab) throws -> [Row] {
        let path = lab.path("notify.sock")
        let notify = instruments_notify_socket(path)
        if notify < 0 { try check(-notify, path) }
        defer { close(notify) }

        // Alternates between the programs, so that other load on the machine affects all of them.
        var starts: [(name: String, time: () throws -> Double)] = []
        starts.append(
            (
                BareServer.name,
                {
                    try timeUntilReady(Command(BareServer.program, [lab.path("start.sock")]), notify, path, lab)
                }
            )
        )
        let peers = lab.peers()
        for peer in peers {
            starts.append(
                (
                    peer.name,
                    {
                        // The peers do not notify: the time from exec to accepting.
                        let launched = try type(of: peer).launch(lab)
                        defer { launched.process.stop() }
                        return launched.startTime
                    }
                )
            )
        }
        let stories = ["no session", "a stored session"]
        for (story, daemon) in zip(stories, [lab.freshDaemon(), lab.signedInDaemon()]) {
            guard let daemon else { continue }
            daemon.process.stop()
            let command = daemon.command
            starts.append((story, { try timeUntilReady(command, notify, path, lab) }))
        }

        var times: [String: [Double]] = [:]
        for _ in 0..<(lab.options.isQuick ? 5 : 50) {
            for (name, time) in starts { times[name, default: []].append(try time()) }
        }
        return stories.map { story in
            var row = Row(
                "exec → READY=1 with \(story), p50 / p90 ms",
                target: "≤ \(Self.limit)× ssh-agent's exec → accept"
            )
            row.bareServer = times[BareServer.name].map(text) ?? row.bareServer
            if story == stories[0] {
                row.peers = peers.map { (name: $0.name, text: text(times[$0.name] ?? [])) }.peerText
            }
            if let ours = times[story] {
                row.junctiond = text(ours)
                if let peer = times[SshAgent.name] {
                    row.junctiond += " (\((ours.median / peer.median).text)×)"
                    row.judge(ours.median <= Self.limit * peer.median)
                }
            }
            return row
        }
    }

    private func timeUntilReady(_ command: Command, _ notify: Int32, _ path: String, _ lab: Lab) throws -> Double {
        var command = command
        command.environment["NOTIFY_SOCKET"] = path
        let process = try ChildProcess(command, log: lab.path("start.log"))
        var at: Int64 = 0
        try check(instruments_await_ready(notify, 10_000, &at), "waiting for READY=1 of \(command.program)")
        process.stop()
        return Double(at - process.startedAt) / 1e6
    }

    private func text(_ times: [Double]) -> String { "\(times.median.text) / \(times.percentile(90).text)" }
}
