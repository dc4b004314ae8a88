import CInstruments
import Glibc

/// A child process of the benchmark.
final class ChildProcess {
    let id: Int32
    /// The time of exec, on the instruments' clock.
    let startedAt: Int64
    private var isOver = false

    init(_ command: Command, output: Int32, errors: Int32) throws {
        let arguments = ([command.program] + command.arguments).map { strdup($0) } + [nil]
        let environment = command.environmentLines.map { strdup($0) } + [nil]
        defer { for text in arguments + environment { free(text) } }

        var id: Int32 = 0
        var startedAt: Int64 = 0
        let code = command.program.withCString { program in
            arguments.withUnsafeBufferPointer { arguments in
                environment.withUnsafeBufferPointer { environment in
                    var order = launch(
                        program: program,
                        arguments: arguments.baseAddress,
                        environment: environment.baseAddress,
                        output: output,
                        errors: errors
                    )
                    return instruments_launch(&order, &id, &startedAt)
                }
            }
        }
        try check(code, "starting \(command.program)")
        self.id = id
        self.startedAt = startedAt
    }

    /// Starts a server whose output goes to a file.
    convenience init(_ command: Command, log: String) throws {
        let file = open(log, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0o600)
        guard file >= 0 else { throw Trouble("\(log): \(String(cString: strerror(errno)))") }
        defer { close(file) }
        try self.init(command, output: file, errors: file)
    }

    /// A process that has detached itself from its parent.
    init(adopting id: Int32) {
        self.id = id
        startedAt = instruments_now()
    }

    deinit { stop() }

    /// This process and all its descendants.
    var family: [Int32] { ProcessFacts.family(of: id) }

    func awaitEnd(within seconds: Double) throws -> Int32 {
        var status: Int32 = 0
        try check(instruments_await_end(id, UInt32(seconds * 1_000), &status), "waiting for the end of process \(id)")
        isOver = true
        return status
    }

    /// Sends SIGTERM, and SIGKILL after two seconds.
    func stop() {
        guard !isOver else { return }
        kill(id, SIGTERM)
        if (try? awaitEnd(within: 2)) != nil { return }
        kill(id, SIGKILL)
        _ = try? awaitEnd(within: 2)
        isOver = true
    }
}
