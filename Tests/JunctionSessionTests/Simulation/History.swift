/// One history, which its seed and its steps determine.
struct History {
    var seed: Int
    var pace: Simulation.Pace
    var steps: [Int]

    /// Runs the history. Throws the first violation.
    func run() throws(Simulation.Broken) -> Coverage {
        try Simulation(seed: UInt64(seed), pace: pace).run(steps: steps)
    }

    /// Runs the history and returns its log, and the violation if there is one.
    func log() -> [String] {
        let simulation = Simulation(seed: UInt64(seed), pace: pace)
        do {
            _ = try simulation.run(steps: steps, isTraced: true)
            return simulation.trace ?? []
        } catch {
            return (simulation.trace ?? []) + ["\(error)"]
        }
    }

    /// Returns the shortest history of this seed that breaks an invariant: none of its steps can be left out.
    func shrunk() -> History {
        var history = self
        history.steps = shortest(steps) { steps in
            var candidate = self
            candidate.steps = steps
            return (try? candidate.run()) == nil
        }
        return history
    }
}

/// Returns a part of `steps` that still fails, and from which no single step can be left out without success.
func shortest(_ steps: [Int], fails: ([Int]) -> Bool) -> [Int] {
    var kept = steps
    var size = max(kept.count / 2, 1)
    while true {
        var hasShrunk = false
        var index = 0
        while index < kept.count {
            var candidate = kept
            candidate.removeSubrange(index..<min(index + size, kept.count))
            if fails(candidate) {
                kept = candidate
                hasShrunk = true
            } else {
                index += size
            }
        }
        if size > 1 {
            size /= 2
        } else if !hasShrunk {
            return kept
        }
    }
}
