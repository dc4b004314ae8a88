import FleetSimulation
import Glibc

/// A simulation of a million daemons and one provider under disturbances.
@main
struct FleetProgram {
    static func main() {
        do {
            if CommandLine.arguments.contains("--help") { return print(Options.usage, terminator: "") }
            let options = try Options(Array(CommandLine.arguments.dropFirst()))
            Memory.bound()
            exit(try run(options))
        } catch {
            tell("\(error)")
            exit(EX_USAGE)
        }
    }

    private static func run(_ options: Options) throws -> Int32 {
        print("\(grouped(Double(options.daemons))) daemons, seed \(options.seed)\n")
        var failures: [String] = []
        for scenario in options.scenarios {
            var table = Table()
            var plot = Plot(of: scenario)
            for contender in options.isCheck ? [.own] : scenario.contenders {
                let begin = seconds()
                let figures = contender.run(scenario, options.daemons, options.seed)
                tell("\(scenario.name), \(contender.name): \(short(seconds() - begin)) s")
                table.add(contender.name, figures)
                plot.add(contender.name, figures)
                if contender.name == Contender.own.name { failures += verdicts(figures, scenario) }
            }
            print("**\(scenario.title)** (`\(scenario.name)`)\n\n\(table.text)\n")
            // Writes each table as soon as it is complete, also to a file.
            fflush(nil)
            if let folder = options.pictures { try write(plot.svg, to: "\(folder)/\(scenario.name).svg") }
        }
        print(
            "Memory: \(grouped(Double(Contender.own.bytes))) bytes a machine and what it has on the heap; "
                + "at most \(grouped(Double(Memory.peak >> 20))) MiB of \(grouped(Double(Memory.limit >> 20))) in all."
        )
        for failure in failures { print("FAILED \(failure)") }
        return failures.isEmpty || !options.isCheck ? EXIT_SUCCESS : EXIT_FAILURE
    }

    /// Prints the result of each target. Returns the missed ones.
    private static func verdicts(_ figures: Figures, _ scenario: Scenario) -> [String] {
        scenario.bounds.compactMap { bound in
            let value = figures[bound.figure]
            let verdict = "\(scenario.name): \(bound.figure.rawValue) \(short(value)), target \(short(bound.target))"
            tell(verdict + (value <= bound.target ? ": holds" : ": missed"))
            return value <= bound.target ? nil : verdict
        }
    }

    private static func seconds() -> Double {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
    }

    private static func write(_ text: String, to path: String) throws {
        guard let file = fopen(path, "w") else {
            throw WrongUsage(description: "\(path): \(String(cString: strerror(errno)))")
        }
        let written = fputs(text, file)
        guard fclose(file) == 0, written >= 0 else { throw WrongUsage(description: "\(path) could not be written") }
    }

    private static func tell(_ text: String) {
        let line = Array("fleet: \(text)\n".utf8)
        _ = Glibc.write(STDERR_FILENO, line, line.count)
    }
}
