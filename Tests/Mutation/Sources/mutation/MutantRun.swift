import Foundation

/// All mutants of the module, compiled in one build and chosen at run time.
struct MutantRun {
    private let options: Mutation
    private let workshop: Workshop
    private var module: MutatedModule

    init(_ options: Mutation) throws {
        self.options = options
        workshop = Workshop(root: options.root, folder: ".build-mutation/mutants")
        module = try MutatedModule(workshop)
    }

    /// - Returns: whether nothing survived that is not explained.
    mutating func run() async throws -> Bool {
        guard !options.list else {
            for mutant in chosen { print(mutant.inAList) }
            return true
        }
        // Read before anything is built: a mistake in it must not be found at the end.
        let explained = try Explained(workshop.root.appending(path: "Tests/Mutation/explained.txt"))
        say("\(module.mutants.count) mutants")
        try await build()

        var trial = try Trial(binary: workshop.testBinary(.release), workshop, options)
        let reached = try await runOriginal(&trial)
        var report = try Report(
            workshop.root.appending(path: ".build-mutation/report.tsv"),
            fingerprint: try fingerprint(),
            resuming: options.resume
        )
        let chosen = chosen.filter { report.entries[$0.number] == nil }
        for mutant in chosen {
            if module.unviable.contains(mutant.number) {
                try report.add(mutant, Trial.Outcome(verdict: .notViable))
            } else if !reached.contains(mutant.number) {
                try report.add(mutant, Trial.Outcome(verdict: .unreached))
            }
        }
        let waiting = chosen.filter { report.entries[$0.number] == nil }
        // A survivor takes the longest: those that are expected come last.
        let expected = waiting.filter(explained.explains)
        try await runAll(waiting.filter { !explained.explains($0) } + expected, trial, &report)

        let isComplete = self.chosen.count == module.mutants.count && !options.simulationOnly
        let summary = Summary(mutants: module.mutants, report: report, explained: explained, isComplete: isComplete)
        summary.show()
        return summary.survivors.isEmpty
    }

    private var chosen: [Mutant] {
        let mutants = module.mutants.filter { mutant in
            options.only.map(mutant.file.contains) ?? true && options.mutant ?? mutant.number == mutant.number
        }
        guard let sample = options.sample, sample < mutants.count else { return mutants }
        return (0..<sample).map { mutants[$0 * mutants.count / sample] }
    }

    /// The tests' sources and the options count as well.
    private func fingerprint() throws -> String {
        let tests = try workshop.files(under: Workshop.tests).map {
            try String(contentsOf: workshop.root.appending(path: $0), encoding: .utf8)
        }
        return module.fingerprint(of: tests + ["\(options.simulationOnly) \(options.histories)"])
    }

    private mutating func build() async throws {
        try FileManager.default.createDirectory(at: workshop.folder, withIntermediateDirectories: true)
        // What the compiler refuses is found again only if the sources have changed.
        let memory = workshop.folder.appending(path: "unviable")
        let heading = module.fingerprint()
        let lines = (try? String(contentsOf: memory, encoding: .utf8))?.split(separator: "\n") ?? []
        if lines.first.map(String.init) == heading { module.unviable = Set(lines.dropFirst().compactMap { Int($0) }) }
        while let words = try await compile() {
            let refused = MutatedFile.refused(in: words).subtracting(module.unviable)
            guard !refused.isEmpty else {
                throw Trouble("The sources do not compile, and no mutant is to blame:\n\(words.suffix(4_000))")
            }
            module.unviable.formUnion(refused)
            say("the compiler refuses \(module.unviable.count) mutants")
        }
        let list = [heading] + module.unviable.sorted().map(String.init)
        try list.joined(separator: "\n").write(to: memory, atomically: true, encoding: .utf8)
        say("what is left compiles; the tests are built")
        if let words = try await workshop.buildTests(.release) {
            throw Trouble("The tests do not build:\n\(words.suffix(4_000))")
        }
    }

    private func compile() async throws -> String? {
        try workshop.refresh(changed: module.changed)
        return try await workshop.compile()
    }

    /// The original has to pass. Its time says how long a hang is, and its trace which mutants a test ever reaches.
    private func runOriginal(_ trial: inout Trial) async throws -> Set<Int> {
        let trace = workshop.folder.appending(path: "reached")
        try? FileManager.default.removeItem(at: trace)
        for stage in trial.stages {
            let outcome = try await trial.run(stage, mutant: 0, trace: trace)
            guard outcome.verdict == .survived else {
                let log = trial.log(stage, mutant: 0)
                throw Trouble("The tests fail without any mutant (\(outcome.verdict.rawValue)): \(log.path)")
            }
            trial.timeouts[stage] = max(10, outcome.seconds * 10)
            say("the \(stage.rawValue) tests take \(outcome.seconds) s without a mutant")
        }
        let bytes = try Data(contentsOf: trace)
        return Set(bytes.indices.filter { bytes[$0] != 0 })
    }

    private func runAll(_ mutants: [Mutant], _ trial: Trial, _ report: inout Report) async throws {
        var waiting = mutants[...]
        try await withThrowingTaskGroup(of: (Mutant, Trial.Outcome).self) { group in
            let begin: (inout ThrowingTaskGroup<(Mutant, Trial.Outcome), any Error>) -> Void = { group in
                guard let mutant = waiting.popFirst() else { return }
                group.addTask { (mutant, try await trial.run(mutant: mutant.number)) }
            }
            for _ in 0..<max(1, options.jobs) { begin(&group) }
            while let (mutant, outcome) = try await group.next() {
                try report.add(mutant, outcome)
                if outcome.verdict == .survived || waiting.count % 50 == 0 {
                    say("mutant \(mutant.number) \(outcome.verdict.rawValue); \(waiting.count) are left")
                }
                begin(&group)
            }
        }
    }
}

extension Mutant {
    fileprivate var inAList: String {
        "\(number)\t\(file):\(line)\t\(kind.rawValue)\t\(original)  →  \(mutated)"
    }
}
