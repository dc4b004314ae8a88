/// The time of one request: on one processor with the server, where only work counts, and without a binding.
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
            let bare = results[BareServer.name]!
            let rows = methods.map { method in
                let limit = place == .shared ? Limit.shared(method) : .roaming
                var row = row(method, place, results[method], bare, within: limit, of: bare)
                row.peers =
                    peers.filter { $0.handsOutTokens == (method == "token.get") }
                    .map { (name: $0.name, text: results[$0.name]!.text) }.peerText
                return row
            }
            return rows
                + zip(ofUnit, methods).map { subject, method in
                    let (limit, measure) = place == .shared ? (Limit.byUnit, results[method]!) : (.roaming, bare)
                    return row(subject.name, place, results[subject.name], bare, within: limit, of: measure)
                }
        }
    }

    /// Callers in a unit, as recommended: the daemon checks their unit for each request. It is the same daemon, which
    /// also admits root, so that only the caller differs.
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

    /// Alternates between all subjects, so that variations of the machine affect all of them.
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

    private func row(
        _ name: String,
        _ place: Place,
        _ ours: Timings?,
        _ bare: Timings,
        within limit: Limit,
        of measure: Timings
    ) -> Row {
        var row = Row("\(name), \(place.rawValue), p50 / p99 µs", target: limit.text)
        row.bareServer = bare.text
        guard let ours else { return row }
        row.junctiond = "\(ours.text) (\((ours.p50 / bare.p50).text)× / \((ours.p99 / bare.p99).text)×)"
        row.judge(
            ours.p50 <= max(limit.p50 * measure.p50, limit.orMicroseconds?.p50 ?? 0),
            ours.p99 <= max(limit.p99 * measure.p99, limit.orMicroseconds?.p99 ?? 0)
        )
        return row
    }
}

/// The limit of an answer's time, relative to another subject.
private struct Limit {
    let text: String
    let p50: Double
    let p99: Double
    /// A second subject for the comparison.
    var orMicroseconds: (p50: Double, p99: Double)?

    static func shared(_ method: String) -> Limit {
        method == "token.get"
            ? Limit(text: "≤ 1.45× / 1.6× C", p50: 1.45, p99: 1.6) : Limit(text: "≤ 1.4× / 1.6× C", p50: 1.4, p99: 1.6)
    }

    static let byUnit = Limit(text: "≤ 1.1× root's", p50: 1.1, p99: 1.1)
    static let roaming = Limit(text: "≤ 1.1× C, or 50 / 85", p50: 1.1, p99: 1.1, orMicroseconds: (50, 85))
}
