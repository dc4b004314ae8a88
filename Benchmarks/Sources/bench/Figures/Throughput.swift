/// The answers per second of a server on one processor, requested from another processor.
struct Throughput: Figure {
    static let name = "throughput"

    private struct Shape {
        var clients: Int
        var depth: Int
        /// The share of the bare server's answers.
        var target: Double
    }

    private static let shapes = [
        Shape(clients: 8, depth: 1, target: 0.5),
        Shape(clients: 64, depth: 16, target: 0.45),
    ]

    func measure(_ lab: Lab) throws -> [Row] {
        let bare = try BareServer(lab)
        let daemon = lab.signedInDaemon()
        let peers = lab.peers().filter { !$0.handsOutTokens }
        let ours = daemon.map { [$0.subject("session.status")] } ?? []
        let subjects = [bare.subject] + ours + peers.map(\.subject)
        let processes = subjects.flatMap(\.processes)
        try lab.processors.separate(from: processes)
        defer { try? lab.processors.roam(processes) }

        return try Self.shapes.map { shape in
            var rates: [String: [Double]] = [:]
            for _ in 0..<min(3, lab.rounds) {
                for subject in subjects {
                    guard let exchange = subject.exchange else { continue }
                    let rate = try exchange.throughput(
                        clients: shape.clients,
                        depth: shape.depth,
                        seconds: lab.options.isQuick ? 0.3 : 2
                    )
                    rates[subject.name, default: []].append(rate)
                }
            }
            var row = row(shape, ours: rates["session.status"]?.median, bare: rates[BareServer.name]!.median)
            row.peers = peers.map { (name: $0.name, text: rates[$0.name]!.median.text) }.peerText
            return row
        }
    }

    private func row(_ shape: Shape, ours: Double?, bare: Double) -> Row {
        var row = Row(
            "session.status, one core, \(shape.clients) clients × depth \(shape.depth), answers/s",
            target: "≥ \(shape.target.text) of C"
        )
        row.bareServer = bare.text
        if let ours {
            row.junctiond = "\(ours.text) (\((ours / bare).text))"
            row.judge(ours >= shape.target * bare)
        }
        return row
    }
}
