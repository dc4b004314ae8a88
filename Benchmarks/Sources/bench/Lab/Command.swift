import CInstruments
import Glibc

/// A program with its arguments and additional environment variables.
struct Command {
    let program: String
    var arguments: [String]
    /// Added to the environment of this process.
    var environment: [String: String]

    init(_ program: String, _ arguments: [String] = [], environment: [String: String] = [:]) {
        self.program = program
        self.arguments = arguments
        self.environment = environment
    }

    /// A program of the system.
    init(named name: String, _ arguments: [String] = [], environment: [String: String] = [:]) throws {
        guard let path = Command.find(name) else { throw Trouble("\(name) is not installed") }
        self.init(path, arguments, environment: environment)
    }

    /// The name in messages.
    var name: String { String(program.split(separator: "/").last ?? "") }

    /// The path of the program on this system.
    static func find(_ name: String) -> String? {
        let folders = String(cString: getenv("PATH")).split(separator: ":")
        return folders.map { "\($0)/\(name)" }.first { access($0, X_OK) == 0 }
    }

    /// Runs the program and returns its output. A failure throws an error with its error output.
    @discardableResult
    func run(within seconds: Double = 30) throws -> String {
        let pipe = try Pipe()
        let process = try ChildProcess(self, output: pipe.input, errors: pipe.input)
        pipe.closeInput()
        let output = pipe.readToEnd()
        let status = try process.awaitEnd(within: seconds)
        guard status == 0 else {
            throw Trouble("\(program) \(arguments.first ?? "") failed (\(status)): \(output)")
        }
        return output
    }

    /// Milliseconds from exec to the first byte of the answer.
    func timeToOutput(within seconds: Double = 10) throws -> Double {
        let pipe = try Pipe()
        let process = try ChildProcess(self, output: pipe.input, errors: STDERR_FILENO)
        pipe.closeInput()
        var at: Int64 = 0
        try check(
            instruments_await_output(pipe.output, UInt32(seconds * 1_000), &at),
            "waiting for output of \(program)"
        )
        _ = pipe.readToEnd()
        let status = try process.awaitEnd(within: seconds)
        guard status == 0 else { throw Trouble("\(program) ended with \(status)") }
        return Double(at - process.startedAt) / 1e6
    }

    /// The environment for the kernel, without the variables of a systemd service.
    var environmentLines: [String] {
        var lines = environment.map { "\($0.key)=\($0.value)" }
        var next = environ
        while let line = next.pointee.map({ String(cString: $0) }) {
            let name = line.prefix { $0 != "=" }
            let isOurs = name.hasPrefix("JUNCTIOND_") || name.hasPrefix("LISTEN_") || name == "NOTIFY_SOCKET"
            if !isOurs, environment[String(name)] == nil { lines.append(line) }
            next += 1
        }
        return lines
    }
}
