import Foundation

/// One of the built programs, run as a process of its own. What it says goes to files, so that nothing can block it.
final class Program: Sendable {
    struct Failure: Error, CustomStringConvertible {
        var description: String
    }

    /// How a finished program ended.
    struct Ending: Sendable {
        var status: Int32
        var wasKilled: Bool
        var output: String
        var errors: String

        /// The one JSON document that it printed.
        func json() throws -> [String: Any] {
            guard let object = try JSONSerialization.jsonObject(with: Data(output.utf8)) as? [String: Any] else {
                throw Failure(description: "Not a JSON object: \(output)")
            }
            return object
        }
    }

    let identifier: pid_t
    private let outputPath: String
    private let errorPath: String
    private let status: EndStatus
    private let ended = DispatchSemaphore(value: 0)

    /// Where the build put the programs: beside this test.
    static let folder: String = {
        let tests = URL(fileURLWithPath: CommandLine.arguments[0]).resolvingSymlinksInPath().deletingLastPathComponent()
        let candidates = [tests.path, Program.root + "/.build/debug"]
        return candidates.first { FileManager.default.isExecutableFile(atPath: $0 + "/junctiond") } ?? candidates[1]
    }()

    static let root = URL(fileURLWithPath: #filePath)
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
        .path

    /// The path of a built program, or of one of the system's if it is installed.
    static func path(of name: String) -> String {
        name.hasPrefix("/") ? name : folder + "/" + name
    }

    /// - Parameters:
    ///   - output: where standard output goes; without it, to a file that `output` reads.
    ///   - passed: what it finds from descriptor 3 on.
    ///   - terminal: what somebody types at, in place of standard input and error.
    init(
        _ name: String,
        _ arguments: [String],
        in folder: TemporaryFolder,
        environment: [String: String] = [:],
        input: String? = nil,
        output: Int32? = nil,
        passing passed: [Int32] = [],
        terminal: PseudoTerminal? = nil
    ) throws {
        let variables = ["PATH": ProcessInfo.processInfo.environment["PATH"] ?? "", "HOME": folder.path]
        outputPath = folder.fresh("out")
        errorPath = terminal?.path ?? folder.fresh("err")
        var inputPath = terminal?.path ?? "/dev/null"
        if let input {
            inputPath = folder.fresh("in")
            try Data(input.utf8).write(to: URL(fileURLWithPath: inputPath))
        }
        identifier = try Spawning(
            path: Self.path(of: name),
            arguments: arguments,
            environment: variables.merging(environment) { $1 },
            inputPath: inputPath,
            output: output.map(Spawning.Output.descriptor) ?? .file(outputPath),
            errorPath: errorPath,
            passed: passed,
            leadsSession: terminal != nil
        ).start()
        let (status, ended, identifier) = (EndStatus(), ended, identifier)
        Thread.detachNewThread {
            status.awaitEnd(of: identifier)
            ended.signal()
        }
        self.status = status
    }

    var output: String { (try? String(contentsOfFile: outputPath, encoding: .utf8)) ?? "" }
    var errors: String { (try? String(contentsOfFile: errorPath, encoding: .utf8)) ?? "" }
    var isRunning: Bool { status.value == nil }

    /// Waits for a line on standard error that holds this text.
    func awaitError(_ text: String, in folder: TemporaryFolder) throws {
        let tail = try TalkingProgram("/usr/bin/tail", ["--lines=+1", "--follow", errorPath], in: folder)
        defer { tail.program.signal(SIGKILL) }
        while let line = try? tail.lines.next() {
            if line.contains(text) { return }
        }
        throw Failure(description: "Nothing said \(text): \(errors)")
    }

    func signal(_ signal: Int32) {
        if isRunning { kill(identifier, signal) }
    }

    /// Waits for its end; a program that does not end is a failure, not a hang.
    @discardableResult
    func wait(atMost seconds: Int = 60) throws -> Ending {
        guard ended.wait(timeout: .now() + .seconds(seconds)) == .success, let status = status.value else {
            signal(SIGKILL)
            throw Failure(description: "Process \(identifier) did not end within \(seconds) s: \(errors)")
        }
        ended.signal()
        // The lower seven bits are the signal that ended it, the next byte is what it returned.
        let signal = status & 0x7F
        return Ending(
            status: signal == 0 ? status >> 8 & 0xFF : signal,
            wasKilled: signal != 0,
            output: output,
            errors: errors
        )
    }

    deinit { signal(SIGKILL) }
}

/// A program whose standard output is read line by line while it runs.
final class TalkingProgram {
    let program: Program
    let lines: LineReader
    private let descriptor: Int32

    init(
        _ name: String,
        _ arguments: [String],
        in folder: TemporaryFolder,
        environment: [String: String] = [:]
    ) throws {
        var ends: [Int32] = [-1, -1]
        let type = Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue)
        guard socketpair(AF_UNIX, type, 0, &ends) == 0 else {
            throw Program.Failure(description: "There is no pair of sockets: \(errno)")
        }
        defer { close(ends[1]) }
        program = try Program(name, arguments, in: folder, environment: environment, output: ends[1])
        descriptor = ends[0]
        lines = LineReader(descriptor)
    }

    /// The next line, as a JSON object.
    func object() throws -> [String: Any] {
        guard let line = try lines.next(),
            let object = try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any]
        else { throw Program.Failure(description: "No JSON object came: \(program.errors)") }
        return object
    }

    /// From now on it writes to nobody.
    func stopListening() {
        shutdown(descriptor, Int32(SHUT_RDWR))
    }

    deinit { close(descriptor) }
}
