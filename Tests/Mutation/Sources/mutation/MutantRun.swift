import Foundation

/// Runs the mutants of the chosen sources. They are compiled in one build and chosen at run time.
struct MutantRun {
    let options: Options
    let buildFolder: BuildFolder

    init(_ options: Options) {
        self.options = options
        buildFolder = BuildFolder(root: options.root, folder: ".build-mutation/mutants", modules: options.modules)
    }

    /// Runs the mutants.
    ///
    /// - Returns: whether every survivor is explained.
    func run() async throws -> Bool {
        var mutants = try MutantSet(buildFolder, folders: options.folders)
        if options.task == .list {
            for mutant in mutants.mutants where isChosen(mutant) { print(mutant.inAList) }
            return true
        }
        say("\(mutants.mutants.count) mutants in \(mutants.files.count) files")
        // Read before the build, so that a malformed entry is reported at once.
        let explained = try Explained(buildFolder.root.appending(path: "Tests/Mutation/explained.txt"))
        try await build(&mutants)

        var trial = try Trial(
            binary: buildFolder.testBinary(options.configuration),
            folder: buildFolder.folder.appending(path: "logs"),
            options: options
        )
        let reached = try await runOriginal(&trial)
        if case .one(let number) = options.task { return try await show(number, mutants, trial) }

        var report = try Report(
            buildFolder.root.appending(path: ".build-mutation/report.tsv"),
            fingerprint: try fingerprint(mutants),
            resuming: options.resume
        )
        let chosen = choice(from: mutants)
        try await timed("\(chosen.count) mutants") {
            // Survivors take the longest, so the expected ones run last.
            let expected = chosen.filter(explained.explains)
            let others = chosen.filter { !explained.explains($0) }
            try await runAll(others + expected, trial, reached, &report)
        }
        for mutant in mutants.mutants where mutants.unviable.contains(mutant.number) {
            guard report.entries[mutant.number] == nil else { continue }
            try report.add(mutant, Trial.Outcome(verdict: .notViable, stage: nil, seconds: 0))
        }
        let summary = Summary(
            mutants: mutants,
            report: report,
            explained: explained,
            isComplete: options.sample == nil && options.only == nil && !options.simulationOnly
        )
        summary.show()
        return summary.survivors.isEmpty
    }

    private func isChosen(_ mutant: Mutant) -> Bool { options.only.map { mutant.file.contains($0) } ?? true }

    /// The fingerprint includes the sources of the tests and the options, because both affect the verdicts.
    private func fingerprint(_ mutants: MutantSet) throws -> String {
        let tests = try options.modules.split(separator: ",").flatMap {
            try buildFolder.files(under: "Tests/\($0)Tests")
        }
        let texts = try tests.map { Array(try Data(contentsOf: buildFolder.root.appending(path: $0))) }
        let stages = "\(options.simulationOnly) \(options.filter) \(options.histories) \(options.configuration)"
        let words = Runtime.source(count: mutants.mutants.count) + stages
        let inserted = mutants.woven.sorted { $0.key < $1.key }.map(\.value.bytes)
        return mutants.fingerprint(of: texts + inserted + [Array(words.utf8)])
    }

    // MARK: Building

    private func build(_ mutants: inout MutantSet) async throws {
        // The results of earlier rounds are used if the sources have not changed.
        let memory = buildFolder.folder.appending(path: "unviable")
        let heading = mutants.fingerprint(of: mutants.woven.sorted { $0.key < $1.key }.map(\.value.bytes))
        let words = (try? String(contentsOf: memory, encoding: .utf8))?.split(whereSeparator: \.isWhitespace) ?? []
        if words.first.map(String.init) == heading {
            mutants.insert(without: Set(words.dropFirst().compactMap { Int($0) }))
        }

        try FileManager.default.createDirectory(at: buildFolder.folder, withIntermediateDirectories: true)
        var viability = Viability()
        let began = ContinuousClock.now
        try await viability.removeFailing(from: &mutants, in: buildFolder)
        say("\(mutants.unviable.count) not viable: \(inSeconds(ContinuousClock.now - began))")
        let list = [heading] + mutants.unviable.sorted().map(String.init)
        try list.joined(separator: "\n").write(to: memory, atomically: true, encoding: .utf8)

        let complaint = try await timed("build of the tests") {
            try await buildFolder.buildTests(options.configuration)
        }
        if let complaint { throw MutationFailure("The tests do not build:\n\(complaint.suffix(4_000))") }
    }

    // MARK: Running

    /// Runs the original, which must pass. Measures the time limit of a hang, and returns the mutants that a test
    /// reaches.
    private func runOriginal(_ trial: inout Trial) async throws -> Set<Int> {
        let trace = buildFolder.folder.appending(path: "reached")
        try? FileManager.default.removeItem(at: trace)
        for stage in trial.stages {
            let outcome = try await trial.run(stage, mutant: 0)
            guard outcome.verdict == .survived else {
                let log = trial.log(stage, mutant: 0)
                throw MutationFailure("The tests fail without any mutant (\(outcome.verdict.rawValue)): \(log.path)")
            }
            _ = try await trial.run(stage, mutant: 0, trace: trace)
            trial.timeouts[stage] = options.timeout ?? max(10, outcome.seconds * 10)
            say("\(stage.rawValue) tests without a mutant: \((outcome.seconds * 100).rounded() / 100) s")
        }
        let bytes = try Data(contentsOf: trace)
        return Set(bytes.indices.filter { bytes[$0] != 0 })
    }

    private func choice(from mutants: MutantSet) -> [Mutant] {
        var mutants = mutants.mutants.filter { isChosen($0) && !mutants.unviable.contains($0.number) }
        guard let sample = options.sample else { return mutants }
        var random = Draw(state: options.seed)
        mutants.shuffle(using: &random)
        return mutants.prefix(sample).sorted { $0.number < $1.number }
    }

    private func runAll(
        _ mutants: [Mutant],
        _ trial: Trial,
        _ reached: Set<Int>,
        _ report: inout Report
    ) async throws {
        let open = mutants.filter { report.entries[$0.number] == nil }
        for mutant in open where !reached.contains(mutant.number) {
            try report.add(mutant, Trial.Outcome(verdict: .unreached, stage: nil, seconds: 0))
        }
        var waiting = open.filter { reached.contains($0.number) }[...]
        let count = waiting.count
        var done = 0
        try await withThrowingTaskGroup(of: (Mutant, Trial.Outcome).self) { group in
            let begin: (inout ThrowingTaskGroup<(Mutant, Trial.Outcome), any Error>) -> Void = { group in
                guard let mutant = waiting.popFirst() else { return }
                group.addTask { (mutant, try await trial.run(mutant: mutant.number)) }
            }
            for _ in 0..<options.jobs { begin(&group) }
            while let (mutant, outcome) = try await group.next() {
                try report.add(mutant, outcome)
                done += 1
                if outcome.verdict == .survived || done % 50 == 0 {
                    say("  \(done) of \(count): mutant \(mutant.number) \(outcome.verdict.rawValue)")
                }
                begin(&group)
            }
        }
    }

    /// Runs one mutant and shows the complete output of its tests.
    private func show(_ number: Int, _ mutants: MutantSet, _ trial: Trial) async throws -> Bool {
        guard let mutant = mutants.mutants.first(where: { $0.number == number }) else {
            throw MutationFailure("There is no mutant \(number): --list has them all")
        }
        guard !mutants.unviable.contains(number) else { throw MutationFailure("Mutant \(number) does not compile") }
        let outcome = try await trial.run(mutant: number)
        for stage in trial.stages {
            guard let log = try? Data(contentsOf: trial.log(stage, mutant: number)) else { continue }
            FileHandle.standardOutput.write(log)
            if stage == outcome.stage { break }
        }
        print(mutant.inAList)
        print("\(outcome.verdict.rawValue) \(outcome.test)")
        return outcome.verdict.isKilled
    }
}

extension Mutant {
    fileprivate var inAList: String {
        "\(number)\t\(file):\(line)\t\(kind.rawValue)\t\(original)  →  \(mutated)"
    }
}

/// A random number generator with a seed (SplitMix64).
private struct Draw: RandomNumberGenerator {
    var state: UInt64

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }
}
