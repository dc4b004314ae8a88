import JunctionSession
import Synchronization
import Testing

#if canImport(Glibc)
import Glibc
#endif

/// Tests the invariants with random histories. A failure names its seed.
struct SimulationTests {
    /// `JUNCTION_HISTORIES` sets the number of histories, `JUNCTION_FIRST_SEED` the first seed.
    static let histories = number("JUNCTION_HISTORIES") ?? 100_000
    static let firstSeed = number("JUNCTION_FIRST_SEED") ?? 0
    static let chunks = min(histories, 20)

    private static func number(_ name: String) -> Int? {
        getenv(name).flatMap { Int(String(cString: $0)) }
    }

    /// The situations that all chunks have met, and the first violation.
    private final class Findings: Sendable {
        private let state = Mutex((met: Coverage(), broken: String?.none))

        var met: Coverage { state.withLock { $0.met } }
        var broken: String? { state.withLock { $0.broken } }
        func add(_ coverage: Coverage) { state.withLock { $0.met.add(coverage) } }
        func note(_ text: String) { state.withLock { $0.broken = $0.broken ?? text } }
    }

    @Test func `random histories keep every invariant, and meet every situation of the coverage list`() async {
        let findings = Findings()
        let size = Self.histories / Self.chunks
        await withTaskGroup(of: Void.self) { group in
            for chunk in 0..<Self.chunks {
                group.addTask { Self.run(Self.firstSeed + chunk * size, size, findings) }
            }
        }
        if let broken = findings.broken {
            Issue.record("\(broken)")
            return
        }
        print("\(Self.histories) histories from seed \(Self.firstSeed): \(findings.met.words)")
        for kind in Coverage.Kind.allCases {
            #expect(findings.met[kind] * kind.histories >= Self.histories, "too few: \(kind) \(findings.met[kind])")
        }
    }

    private static func run(_ first: Int, _ count: Int, _ findings: Findings) {
        var met = Coverage()
        for seed in first..<(first + count) {
            if findings.broken != nil { return }
            let simulation = Simulation(seed: UInt64(seed))
            do {
                met.add(try simulation.run(steps: 30, isTraced: getenv("JUNCTION_TRACE") != nil))
            } catch {
                simulation.trace?.forEach { print($0) }
                return findings.note("Seed \(seed): \(error)")
            }
        }
        findings.add(met)
    }
}
