import Foundation

/// The report in words.
struct Summary {
    let mutants: [Mutant]
    let report: Report
    let explained: Explained
    /// Whether every mutant was run, so that an explanation which fits none is out of date.
    let isComplete: Bool

    private func mutants(where isMeant: (Verdict) -> Bool) -> [Mutant] {
        mutants.filter { report.entries[$0.number].map { isMeant($0.verdict) } ?? false }
    }

    private var surviving: [Mutant] { mutants(where: { [.survived, .unreached].contains($0) }) }

    /// The survivors that nobody has explained.
    var survivors: [Mutant] { surviving.filter { !explained.explains($0) } }

    /// Explanations for something that does not survive, or is not there any more.
    private var stale: [Explained.Entry] {
        let surviving = surviving
        return explained.entries.filter { entry in
            let fitting = mutants.filter(entry.explains)
            let wasRun = isComplete || fitting.contains { report.entries[$0.number]?.verdict.isKilled ?? false }
            return fitting.isEmpty || (wasRun && !surviving.contains(where: entry.explains))
        }
    }

    func show() {
        let survivors = survivors
        for mutant in survivors { show(mutant) }
        for entry in stale {
            print("Tests/Mutation/explained.txt:\(entry.line): out of date, no such survivor: \(entry.original)")
        }
        print(
            """
            Of \(mutants.count) mutants \(mutants(where: { $0 == .notViable }).count) do not compile. \
            Killed: \(mutants(where: \.isKilled).count). Survived: \(survivors.count), of which \
            \(survivors.filter(isUnreached).count) are never reached by a test; \
            beside them \(surviving.count - survivors.count) explained.
            Everything is in \(report.file.path).
            """
        )
    }

    private func isUnreached(_ mutant: Mutant) -> Bool { report.entries[mutant.number]?.verdict == .unreached }

    /// In the form of an entry of `explained.txt`.
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
