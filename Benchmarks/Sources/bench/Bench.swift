import CInstruments
import Glibc

/// Measures the built programs from outside, compared with a bare C server and similar agents, and prints one table.
@main
struct Bench {
    static let figures: [any Figure] = [
        RoundTrip(), HangingProvider(), Throughput(), Start(), Memory(), WakeUps(), ClientAnswer(), Watchers(),
        DurableWrite(),
    ]

    /// The time limit of the whole run.
    private static let longestRun: UInt32 = 30 * 60

    static func main() {
        do {
            if CommandLine.arguments.contains("--help") { return print(Options.usage, terminator: "") }
            let options = try Options(Array(CommandLine.arguments.dropFirst()))
            let onDisk = try temporaryFolder(in: options.directory)
            let inMemory = try temporaryFolder(in: "/dev/shm")
            let group = Result { try UnitGroup() }
            // From here on this is the child. The supervisor kills its remaining descendants and removes the folders
            // and the group.
            try check(instruments_supervise(onDisk, inMemory, try? group.get().path, longestRun), "fork")
            exit(try run(Lab(options, onDisk: onDisk, inMemory: inMemory, group: group)))
        } catch {
            Report.tell("\(error)")
            exit(EX_USAGE)
        }
    }

    private static func run(_ lab: Lab) throws -> Int32 {
        var report = Report(before: Machine())
        // A program that was just built is not on disk yet, and its pages would count as dirty memory.
        sync()
        for figure in figures {
            let name = type(of: figure).name
            guard lab.options.only.isEmpty || lab.options.only.contains(name) else { continue }
            Report.tell("\(name) …")
            do {
                report.rows += try figure.measure(lab)
            } catch {
                report.failures.append("\(name): \(error)")
            }
        }
        report.notes = lab.notes
        report.print(isQuick: lab.options.isQuick)
        return report.failures.isEmpty ? EXIT_SUCCESS : EXIT_FAILURE
    }

    private static func temporaryFolder(in parent: String) throws -> String {
        var template = Array("\(parent)/junctiond-bench.XXXXXX".utf8CString)
        guard mkdtemp(&template) != nil else { throw Trouble("\(parent): \(String(cString: strerror(errno)))") }
        return template.withUnsafeBufferPointer { String(cString: $0.baseAddress!) }
    }
}
