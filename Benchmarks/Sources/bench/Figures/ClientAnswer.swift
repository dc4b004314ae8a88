/// From exec of a client until the first byte of its answer: what a script pays for every call.
struct ClientAnswer: Figure {
    static let name = "client"

    func measure(_ lab: Lab) throws -> [Row] {
        let bare = try BareServer(lab)
        let daemon = lab.signedInDaemon()
        let peers = lab.peers()
        let program = lab.attempt("junctionctl") { try lab.program("junctionctl") }
        var clients = [(BareServer.name, bare.client)] + peers.map { ($0.name, $0.client) }
        if let daemon, let program {
            for verb in ["status", "token"] {
                clients.append((verb, Command(program, [verb], environment: ["JUNCTIOND_SOCKET": daemon.socket])))
            }
        }

        var times: [String: [Double]] = [:]
        for _ in 0..<(lab.options.isQuick ? 10 : 100) {
            for (name, client) in clients { times[name, default: []].append(try client.timeToOutput()) }
        }
        return ["status", "token"].map { verb in
            var row = Row("junctionctl \(verb): exec → answer printed, p50 / p90 ms", target: "≤ 1.8 (aim 1.2)")
            row.bareServer = text(times[BareServer.name])
            row.peers =
                peers.filter { $0.handsOutTokens == (verb == "token") }
                .map { (name: $0.client.name, text: text(times[$0.name])) }.peerText
            if let ours = times[verb] {
                row.junctiond = text(ours)
                row.judge(ours.median <= 1.8)
            }
            return row
        }
    }

    private func text(_ times: [Double]?) -> String {
        times.map { "\($0.median.text) / \($0.percentile(90).text)" } ?? "–"
    }
}
