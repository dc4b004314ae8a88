import Foundation

/// Running the tests against one mutant.
struct Trial {
    /// The quick tests go first: most mutants do not survive them.
    enum Stage: String, CaseIterable {
        case quick
        case simulation
    }

    /// The result of the tests.
    struct Outcome: Equatable {
        var verdict: Verdict
        var stage: Stage?
        var seconds = 0.0
        /// The first test that failed, where one said so.
        var test = ""
    }

    /// The most memory a run may ask for, in KiB: a mutant that appends for ever must not fill the machine.
    private static let mostMemory = 8 << 20

    let stages: [Stage]
    /// In seconds; ten minutes where nothing is set.
    var timeouts: [Stage: Double] = [:]
    private let binary: String
    private let folder: URL
    private let histories: Int

    init(binary: String, _ workshop: Workshop, _ options: Mutation) throws {
        self.binary = binary
        folder = workshop.folder.appending(path: "logs")
        stages = options.simulationOnly ? [.simulation] : Stage.allCases
        histories = options.histories
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    }

    /// - Parameter mutant: its number; 0 is the original.
    func run(mutant: Int) async throws -> Outcome {
        var seconds = 0.0
        for stage in stages {
            var outcome = try await run(stage, mutant: mutant)
            seconds += outcome.seconds
            outcome.seconds = seconds
            if outcome.verdict != .survived { return outcome }
        }
        return Outcome(verdict: .survived, seconds: seconds)
    }

    func log(_ stage: Stage, mutant: Int) -> URL { folder.appending(path: "\(mutant)-\(stage.rawValue).log") }

    /// - Parameter trace: a file that notes which mutants are reached.
    func run(_ stage: Stage, mutant: Int, trace: URL? = nil) async throws -> Outcome {
        var environment = [
            "JUNCTION_MUTANT": String(mutant),
            "JUNCTION_HISTORIES": String(histories),
            // That it crashes is enough to know.
            "SWIFT_BACKTRACE": "enable=no",
        ]
        if let trace { environment["JUNCTION_MUTANT_TRACE"] = trace.path }
        let log = log(stage, mutant: mutant)
        let selection = [stage == .quick ? "--skip" : "--filter", "SimulationTests"]
        let start = ContinuousClock.now
        let end = try await Child.run(
            [binary, "--testing-library", "swift-testing"] + selection,
            environment: environment,
            log: log,
            timeout: timeouts[stage] ?? 600,
            memory: Self.mostMemory,
            // The test library has no option to stop at the first failure.
            stopping: "recorded an issue"
        )
        let seconds = (((ContinuousClock.now - start) / .seconds(1)) * 100).rounded() / 100
        let verdict: Verdict =
            switch end {
            // 69: no test has such a name.
            case .exited(0), .exited(69): .survived
            case .exited, .said: .assertion
            case .signalled: .crash
            case .timedOut: .timeout
            }
        let test = verdict == .assertion ? try Self.firstFailure(in: log) : ""
        return Outcome(verdict: verdict, stage: stage, seconds: seconds, test: test)
    }

    private static func firstFailure(in log: URL) throws -> String {
        let lines = try String(decoding: Data(contentsOf: log), as: UTF8.self).split(separator: "\n")
        guard let line = lines.first(where: { $0.contains("recorded an issue") }) else { return "" }
        let quoted = line.split(separator: "\"", omittingEmptySubsequences: false)
        return quoted.count > 2 ? String(quoted[1]) : String(line)
    }
}

/// What became of a mutant.
enum Verdict: String, CaseIterable {
    case assertion
    case crash
    case timeout
    case survived
    /// It survived because no test reaches its function: it was not run.
    case unreached
    case notViable = "not-viable"

    var isKilled: Bool { [.assertion, .crash, .timeout].contains(self) }
}
