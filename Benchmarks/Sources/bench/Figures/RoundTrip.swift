/// How long one request takes: on one processor with the server, where only work counts, and wherever the kernel likes.
struct RoundTrip: Figure {
    static let name = "round-trip"

    private enum Place: String {
        case shared = "same CPU"
        case roaming = "unpinned"
    }

    func measure(_ lab: Lab) throws -> [Row] {
        let bare = try BareServer(lab)
        let daemon = lab.signedInDaemon(admitting: lab.unitGroup())
        let peers = lab.peers()
        let methods = ["session.status", "token.get"]
        let ours = daemon.map { daemon in methods.map(daemon.subject) } ?? []
        let ofUnit = try daemon.map { try subjectsOfUnit($0, methods, lab) } ?? []

        return try [Place.shared, .roaming].flatMap { place in
            let results = try measure([bare.subject] + ours + ofUnit + peers.map(\.subject), place, lab)
            func row(_ name: String) -> Row {
                self.row(name, place, ours: results[name], bare: results[BareServer.name]!)
            }
            let rows = methods.map { method in
                var row = row(method)
                row.peers =
                    peers.filter { $0.handsOutTokens == (method == "token.get") }
                    .map { (name: $0.name, text: results[$0.name]!.text) }.peerText
                return row
            }
            return rows + ofUnit.map { row($0.name) }
        }
    }

    /// The callers that we recommend: the daemon asks whether they are still there, each time. It is the same daemon, which
    /// admits root too, so that only who asks is another.
    private func subjectsOfUnit(_ daemon: Junctiond, _ methods: [String], _ lab: Lab) throws -> [Subject] {
        let admitted = lab.attempt(UnitGroup.isLeftOut) {
            let subjects = methods.compactMap(daemon.subjectOfUnit)
            for subject in subjects { _ = try subject.roundTrips(1) }
            return subjects
        }
        guard let admitted, !admitted.isEmpty else { return [] }
        for method in methods { try daemon.checkThatOnlyTheUnitIsAdmitted(to: method) }
        return admitted
    }

    /// All subjects in turn, so that a change of the machine's mood meets them all.
    private func measure(_ subjects: [Subject], _ place: Place, _ lab: Lab) throws -> [String: Timings] {
        let processes = subjects.flatMap(\.processes)
        switch place {
        case .shared: try lab.processors.share(with: processes)
        case .roaming: try lab.processors.roam(processes)
        }
        defer { try? lab.processors.roam(processes) }

        var rounds: [String: [Timings]] = [:]
        for _ in 0..<lab.rounds {
            for subject in subjects {
                let timings = try subject.roundTrips(lab.options.isQuick ? 2_000 : 20_000)
                rounds[subject.name, default: []].append(timings)
            }
        }
        return rounds.mapValues(Timings.init(medianOf:))
    }

    private func row(_ name: String, _ place: Place, ours: Timings?, bare: Timings) -> Row {
        let isShared = place == .shared
        var row = Row(
            "\(name), \(place.rawValue), p50 / p99 µs",
            target: isShared ? "≤ 1.5× C, or 13.5 / 20" : "≤ 1.1× C, or 50 / 85"
        )
        row.bareServer = bare.text
        guard let ours else { return row }
        row.junctiond = "\(ours.text) (\((ours.p50 / bare.p50).text)× / \((ours.p99 / bare.p99).text)×)"
        let ratio = isShared ? 1.5 : 1.1
        row.judge(
            ours.p50 <= max(ratio * bare.p50, isShared ? 13.5 : 50),
            ours.p99 <= max(ratio * bare.p99, isShared ? 20 : 85)
        )
        return row
    }
}
