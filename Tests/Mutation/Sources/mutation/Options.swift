struct Options {
    var root = "."
    var folders: [String] = []
    var modules = "JunctionSession"
    var only: String?
    var sample: Int?
    var seed: UInt64 = 1
    var jobs = 2
    var histories = 20_000
    var timeout: Double?
    var configuration = Configuration.release
    /// The filter for the slow tests, which run after the others, and alone with `--simulation-only`.
    var filter = "SimulationTests"
    var simulationOnly = false
    var resume = false
    var task = Task.all

    enum Task: Equatable {
        case all
        case list
        case one(Int)
        case defects
    }

    enum Configuration: String {
        case debug
        case release
    }

    static let usage = """
        Usage: Tests/Mutation/run [OPTION]…

          --folder PATH        mutates the sources under this folder; may be repeated
                               (Sources/JunctionSession)
          --modules NAMES      builds these modules and runs their tests (JunctionSession)
          --only TEXT          only mutants, or defects, in files whose path contains this
          --sample N           only N mutants, drawn at random
          --seed S             the seed of the draw (1)
          --simulation-only    runs only the tests that --filter names
          --filter REGEX       the slow tests, which run after all the others (SimulationTests)
          --histories N        JUNCTION_HISTORIES for the tests (20000)
          --jobs N             the number of mutants that run at the same time (2)
          --timeout SECONDS    a longer run counts as a hang (ten times the normal time, and at least ten seconds)
          --debug, --release   how the tests are built (release; with --defects: debug)
          --resume             continues an interrupted run with the same sources
          --list               lists the mutants, and builds nothing
          --mutant N           runs one mutant and shows the output of its tests
          --defects            puts in each defect of Tests/Mutation/defects; every one must be found
        """

    init(_ arguments: [String]) throws(MutationFailure) {
        var rest = arguments[...]
        var chosen: Configuration?
        while let option = rest.popFirst() {
            switch option {
            case "--root": root = try Self.value(of: option, &rest)
            case "--folder": folders.append(try Self.value(of: option, &rest))
            case "--modules": modules = try Self.value(of: option, &rest)
            case "--only": only = try Self.value(of: option, &rest)
            case "--sample": sample = try Self.number(of: option, &rest)
            case "--seed": seed = UInt64(try Self.number(of: option, &rest))
            case "--jobs": jobs = max(1, try Self.number(of: option, &rest))
            case "--histories": histories = try Self.number(of: option, &rest)
            case "--timeout": timeout = Double(try Self.number(of: option, &rest))
            case "--filter": filter = try Self.value(of: option, &rest)
            case "--simulation-only": simulationOnly = true
            case "--debug": chosen = .debug
            case "--release": chosen = .release
            case "--resume": resume = true
            case "--list": task = .list
            case "--mutant": task = .one(try Self.number(of: option, &rest))
            case "--defects": task = .defects
            default: throw MutationFailure("\(option): no such option\n\n\(Self.usage)")
            }
        }
        // Each defect needs a build of its own, and a debug build of one changed file is fast.
        configuration = chosen ?? (task == .defects ? .debug : .release)
        if folders.isEmpty { folders = ["Sources/JunctionSession"] }
        if task == .defects { simulationOnly = true }
    }

    private static func value(of option: String, _ rest: inout ArraySlice<String>) throws(MutationFailure) -> String {
        guard let value = rest.popFirst() else { throw MutationFailure("\(option) wants a value") }
        return value
    }

    private static func number(of option: String, _ rest: inout ArraySlice<String>) throws(MutationFailure) -> Int {
        let text = try value(of: option, &rest)
        guard let number = Int(text), number >= 0 else {
            throw MutationFailure("\(option) wants a number, not '\(text)'")
        }
        return number
    }
}
