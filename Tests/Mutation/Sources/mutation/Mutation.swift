import Foundation

/// Makes small changes to the sources, one at a time, and checks whether a test detects each.
@main
enum Mutation {
    static func main() async {
        let arguments = Array(CommandLine.arguments.dropFirst())
        guard !arguments.contains("--help") else { return print(Options.usage) }
        do {
            let options = try Options(arguments)
            let isGood =
                if options.task == .defects {
                    try await DefectRun(options).run()
                } else {
                    try await MutantRun(options).run()
                }
            exit(isGood ? 0 : 1)
        } catch {
            FileHandle.standardError.write(Data("mutation: \(error)\n".utf8))
            exit(2)
        }
    }
}

/// Prints a line about the progress. It is not part of the report.
func say(_ words: String) {
    FileHandle.standardError.write(Data((words + "\n").utf8))
}

/// Runs an operation and prints its duration.
func timed<Value>(
    _ what: String,
    isolation: isolated (any Actor)? = #isolation,
    _ work: () async throws -> Value
) async rethrows -> Value {
    let start = ContinuousClock.now
    let value = try await work()
    say("\(what): \(inSeconds(ContinuousClock.now - start))")
    return value
}

func inSeconds(_ duration: Duration) -> String {
    "\(((duration / .seconds(1)) * 10).rounded() / 10) s"
}
