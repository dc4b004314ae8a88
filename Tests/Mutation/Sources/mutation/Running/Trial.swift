import Foundation

/// Runs the tests against one mutant.
struct Trial {
    let binary: String
    let folder: URL
    let stages: [Stage]
    let histories: Int
    var timeouts: [Stage: Double] = [:]

    /// The stages. The fast tests run first, because they detect most mutants.
    enum Stage: String, CaseIterable {
        case quick
        case simulation
    }

    /// The result of the tests.
    struct Outcome: Equatable {
        var verdict: Verdict
        var stage: Stage?
        var seconds: Double
        /// The first failed test, if the output names it.
        var test = ""
    }

    private let filter: String

    init(binary: String, folder: URL, options: Options) throws {
        self.binary = binary
        self.folder = folder
        stages = options.simulationOnly ? [.simulation] : [.quick, .simulation]
        histories = options.histories
        filter = options.filter
        for stage in stages { timeouts[stage] = options.timeout ?? 600 }
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    }

    /// Runs the tests.
    ///
    /// - Parameters:
    /// - mutant: the number of the mutant. Zero is the original.
    /// - trace: a file that records the reached mutants.
    func run(mutant: Int, trace: URL? = nil) async throws -> Outcome {
        var seconds = 0.0
        for stage in stages {
            let outcome = try await run(stage, mutant: mutant, trace: trace)
            seconds += outcome.seconds
            if outcome.verdict != .survived {
                return Outcome(verdict: outcome.verdict, stage: stage, seconds: seconds, test: outcome.test)
            }
        }
        return Outcome(verdict: .survived, stage: nil, seconds: seconds)
    }

    func log(_ stage: Stage, mutant: Int) -> URL { folder.appending(path: "\(mutant)-\(stage.rawValue).log") }

    func run(_ stage: Stage, mutant: Int, trace: URL? = nil) async throws -> Outcome {
        var environment = [
            "JUNCTION_MUTANT": String(mutant),
            "JUNCTION_HISTORIES": String(histories),
            "JUNCTION_DEVICE_YEARS": "5",
            // A crash is a sufficient result, so no backtrace is needed.
            "SWIFT_BACKTRACE": "enable=no",
        ]
        if let trace { environment["JUNCTION_MUTANT_TRACE"] = trace.path }
        let log = log(stage, mutant: mutant)
        let start = ContinuousClock.now
        let end = try await Child.run(
            [binary, "--testing-library", "swift-testing", stage == .quick ? "--skip" : "--filter", filter],
            environment: environment,
            log: log,
            timeout: timeouts[stage] ?? 600,
            // The test library has no option to stop at the first failure.
            stopping: "recorded an issue"
        )
        let seconds = (ContinuousClock.now - start) / .seconds(1)
        let verdict: Verdict =
            switch end {
            // Exit code 69: no test matches the filter.
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

/// The verdict on a mutant.
enum Verdict: String, CaseIterable {
    case assertion
    case crash
    case timeout
    case survived
    /// It survived without a run, because no test reaches it.
    case unreached
    case notViable = "not-viable"

    var isKilled: Bool { [.assertion, .crash, .timeout].contains(self) }
}
