/// The time from exec of a client to the first byte of its answer: the cost of each call in a script.
struct ClientAnswer: Figure {
    static let name = "client"

    /// The share of ssh-add's time.
    private static let limit = 0.3

    func measure(_ lab: Lab) throws -> [Row] {
        let bare = try BareServer(lab)
        let daemon = lab.signedInDaemon()
        let peers = lab.peers()
        let program = lab.attempt("junctionctl") { try lab.program("junctionctl") }
        var clients = [(BareServer.name, bare.client)] + peers.map { ($0.name, $0.client) }
        if let daemon, let program {
            for verb in ["status", "token"] {
                clients.append((verb, Command(program, ["--socket", daemon.socket, verb])))
            }
        }

        var times: [String: [Double]] = [:]
        for _ in 0..<(lab.options.isQuick ? 10 : 100) {
            for (name, client) in clients { times[name, default: []].append(try client.timeToOutput()) }
        }
        return ["status", "token"].map { verb in
            var row = Row(
                "junctionctl --socket P \(verb): exec → answer printed, p50 / p90 ms",
                target: "≤ \(Self.limit)× ssh-add"
            )
            row.bareServer = text(times[BareServer.name])
            row.peers =
                peers.filter { $0.handsOutTokens == (verb == "token") }
                .map { (name: $0.client.name, text: text(times[$0.name])) }.peerText
            if let ours = times[verb] {
                row.junctiond = text(ours)
                // The name in the table: the peer is an agent, and its client sends the request.
                if let peer = times[SshAgent.name] {
                    row.junctiond += " (\((ours.median / peer.median).text)×)"
                    row.judge(ours.median <= Self.limit * peer.median)
                }
            }
            return row
        }
    }

    private func text(_ times: [Double]?) -> String {
        times.map { "\($0.median.text) / \($0.percentile(90).text)" } ?? "–"
    }
}
