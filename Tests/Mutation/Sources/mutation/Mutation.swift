import ArgumentParser
import Foundation

/// Makes small mistakes in the sources, one at a time, and checks that a test fails.
@main
struct Mutation: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "Tests/Mutation/run",
        abstract: "Makes small mistakes in \(MutatedModule.folder), one at a time, and checks that a test fails."
    )

    @Option(help: "The root of the project.")
    var root = "."
    @Option(help: "Only mutants, or defects, in files whose path contains this.")
    var only: String?
    @Option(help: "Only so many mutants, evenly spread.")
    var sample: Int?
    @Option(help: "Only the mutant with this number.")
    var mutant: Int?
    @Flag(help: "Run the simulation and no other test.")
    var simulationOnly = false
    @Option(help: "JUNCTION_HISTORIES for the simulation.")
    var histories = 20_000
    @Option(help: "So many mutants are tested at the same time.")
    var jobs = 2
    @Flag(help: "Go on where an earlier run with the same sources was interrupted.")
    var resume = false
    @Flag(help: "List the mutants, and build nothing.")
    var list = false
    @Flag(help: "Apply each defect of Tests/Mutation/defects: the simulation has to find every one.")
    var defects = false

    func run() async throws {
        let isGood: Bool
        do {
            var mutants = try MutantRun(self)
            isGood = try await defects ? DefectRun(self).run() : mutants.run()
        } catch {
            say("mutation: \(error)")
            throw ExitCode(2)
        }
        if !isGood { throw ExitCode(1) }
    }
}

/// Why the tool cannot go on.
struct Trouble: Error, CustomStringConvertible {
    var description: String

    init(_ description: String) {
        self.description = description
    }
}

private let began = ContinuousClock.now

/// Writes a line about the progress of the run, with the time since its beginning; it is not part of the result.
func say(_ words: String) {
    let seconds = (ContinuousClock.now - began).components.seconds
    FileHandle.standardError.write(Data("\(seconds) s: \(words)\n".utf8))
}
