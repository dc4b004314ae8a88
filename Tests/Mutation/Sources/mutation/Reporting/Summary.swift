import Foundation

/// Prints the report for a person.
struct Summary {
    let mutants: MutantSet
    let report: Report
    let explained: Explained
    /// Whether every mutant was run, so that an explanation without a survivor is out of date.
    let isComplete: Bool

    private func mutants(_ verdicts: Verdict...) -> [Mutant] {
        mutants.mutants.filter { report.entries[$0.number].map { verdicts.contains($0.verdict) } ?? false }
    }

    /// The survivors without an explanation.
    var survivors: [Mutant] { mutants(.survived, .unreached).filter { !explained.explains($0) } }

    /// The explanations that match no survivor.
    private var stale: [Explained.Entry] {
        let surviving = mutants(.survived, .unreached)
        return explained.entries.filter { entry in
            let fitting = mutants.mutants.filter(entry.explains)
            let wasRun = isComplete || fitting.contains { report.entries[$0.number]?.verdict.isKilled ?? false }
            return fitting.isEmpty || (wasRun && !surviving.contains(where: entry.explains))
        }
    }

    func show() {
        for mutant in survivors { show(mutant) }
        let expected = mutants(.survived, .unreached).filter(explained.explains)
        let killed = mutants(.assertion, .crash, .timeout)
        let run = killed.count + survivors.count + expected.count
        print(
            """
            \(mutants.mutants.count) mutants, of which \(mutants.unviable.count) are not viable; \(run) were tried.
            Killed: \(killed.count) (\(counts(killed))).
            Survived: \(survivors.count), of which \(survivors.filter(isUnreached).count) are never reached by a test; \
            beside them \(expected.count) explained.
            """
        )
        for kind in Mutant.Kind.allCases {
            let dead = killed.filter { $0.kind == kind }.count
            let alive = survivors.filter { $0.kind == kind }.count
            guard dead + alive > 0 else { continue }
            print("  \(kind.rawValue.padded(to: 20)) killed \(dead), survived \(alive)")
        }
        for entry in stale {
            print("Tests/Mutation/explained.txt:\(entry.line): out of date, no such survivor: \(entry.original)")
        }
        print("Everything is in \(report.file.path).")
    }

    private func isUnreached(_ mutant: Mutant) -> Bool { report.entries[mutant.number]?.verdict == .unreached }

    private func counts(_ killed: [Mutant]) -> String {
        let outcomes = killed.compactMap { report.entries[$0.number] }
        let ways = [Verdict.assertion, .crash, .timeout]
            .map { way in "\(way.rawValue) \(outcomes.filter { $0.verdict == way }.count)" }
        let stages = Trial.Stage.allCases
            .map { stage in "\(outcomes.filter { $0.stage == stage }.count) by the \(stage.rawValue) tests" }
        return (ways + stages).joined(separator: ", ")
    }

    /// Prints a mutant as an entry of `explained.txt`.
    private func show(_ mutant: Mutant) {
        print(
            """
            # \(mutant.file):\(mutant.line), mutant \(mutant.number)\(isUnreached(mutant) ? ", never reached" : "")
            file: \(mutant.file)
            operator: \(mutant.kind.rawValue)
            original: \(mutant.original)
            mutated: \(mutant.mutated)

            """
        )
    }
}

extension String {
    func padded(to width: Int) -> String { self + String(repeating: " ", count: max(0, width - count)) }
}
