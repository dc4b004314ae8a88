import JunctionSession
import Synchronization
import Testing

#if canImport(Glibc)
import Glibc
#endif

/// Tests the invariants with random histories.
///
/// A failure names its seed and the shortest list of steps that fails. `JUNCTION_FIRST_SEED` and `JUNCTION_STEPS` repeat
/// that history, and `JUNCTION_TRACE` shows it.
struct SimulationTests {
    static let histories = number("JUNCTION_HISTORIES") ?? 100_000
    static let deviceYears = number("JUNCTION_DEVICE_YEARS") ?? 500
    static let firstSeed = number("JUNCTION_FIRST_SEED") ?? 0
    static let steps = text("JUNCTION_STEPS").map { $0.split(separator: ",").compactMap { Int($0) } }
    static let tasks = 20

    private static func text(_ name: String) -> String? { getenv(name).map { String(cString: $0) } }
    private static func number(_ name: String) -> Int? { text(name).flatMap { Int($0) } }

    /// `JUNCTION_HISTORIES` sets the number of histories; 0 skips this test.
    @Test(.enabled(if: histories > 0))
    func `random histories keep every invariant, and meet every situation of the coverage list`() async {
        let findings = Findings()
        let tasks = min(Self.histories, Self.tasks)
        let share = Self.histories / tasks
        await withTaskGroup(of: Void.self) { group in
            for task in 0..<tasks {
                group.addTask {
                    for seed in 0..<share where findings.broken == nil {
                        Self.run(Self.firstSeed + task * share + seed, .dense, steps: 30, findings)
                    }
                }
            }
        }
        guard let met = Self.met(findings) else { return }
        print("\(Self.histories) histories from seed \(Self.firstSeed): \(met.words)")
        for kind in Coverage.Kind.allCases {
            guard let each = kind.histories else { continue }
            #expect(met[kind] * each >= Self.histories, "too few: \(kind) \(met[kind])")
        }
    }

    /// `JUNCTION_DEVICE_YEARS` sets the simulated time; 0 skips this test.
    @Test(.enabled(if: deviceYears > 0))
    func `devices in use for years lose no login`() async {
        let findings = Findings()
        let share = Double(Self.deviceYears) / Double(Self.tasks)
        await withTaskGroup(of: Void.self) { group in
            for task in 0..<Self.tasks {
                group.addTask {
                    // A history has about ninety days.
                    var seed = Self.firstSeed + task
                    var lived = 0.0
                    while findings.broken == nil, lived < share {
                        lived += Self.run(seed, .ordinary, steps: 365, findings)
                        seed += Self.tasks
                    }
                }
            }
        }
        guard let met = Self.met(findings) else { return }
        print("\(Int(met.deviceYears)) device-years from seed \(Self.firstSeed): \(met.words)")
        for kind in [Coverage.Kind.rotations, .refreshRetries, .crashIdle, .crashSending, .suspends, .revocationsTold] {
            #expect(met[kind] >= Self.deviceYears, "too few: \(kind) \(met[kind])")
        }
    }

    // MARK: Runs

    /// What all tasks have met, and the first violation.
    private final class Findings: Sendable {
        private let state = Mutex((met: Coverage(), broken: History?.none))

        var met: Coverage { state.withLock { $0.met } }
        var broken: History? { state.withLock { $0.broken } }
        func add(_ coverage: Coverage) { state.withLock { $0.met.add(coverage) } }
        func note(_ history: History) { state.withLock { $0.broken = $0.broken ?? history } }
    }

    /// Runs one history. Returns its simulated device-years.
    @discardableResult
    private static func run(_ seed: Int, _ pace: Simulation.Pace, steps count: Int, _ findings: Findings) -> Double {
        let history = History(seed: seed, pace: pace, steps: steps ?? Array(0..<count))
        if getenv("JUNCTION_TRACE") != nil { history.log().forEach { print($0) } }
        guard let met = try? history.run() else {
            findings.note(history)
            return 0
        }
        findings.add(met)
        return met.deviceYears
    }

    /// Returns what the histories have met. Records an issue if one of them has broken an invariant.
    private static func met(_ findings: Findings) -> Coverage? {
        guard let broken = findings.broken?.shrunk() else { return findings.met }
        let log = broken.log()
        let steps = broken.steps.map(String.init).joined(separator: ",")
        Issue.record(
            """
            Seed \(broken.seed), \(broken.pace), steps \(steps): \(log.last ?? "")
            To repeat it: JUNCTION_FIRST_SEED=\(broken.seed) JUNCTION_STEPS=\(steps), and 1 for the kind of history
            \(log.suffix(60).joined(separator: "\n"))
            """
        )
        return nil
    }
}
