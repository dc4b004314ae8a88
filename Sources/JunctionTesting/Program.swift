import Foundation

/// A child process that runs a built program or a system program. Its output goes to files, so that a full pipe cannot
/// block it. The process is killed when this object is released.
package final class Program: Sendable {
    /// The result of a program that has ended.
    package struct Ending: Sendable {
        package var status: Int32
        package var wasKilled: Bool
        package var output: String
        package var errors: String

        /// Parses the output as one JSON object.
        package func json() throws -> [String: Any] {
            guard let object = try JSONSerialization.jsonObject(with: Data(output.utf8)) as? [String: Any] else {
                throw TestFailure(description: "Not a JSON object: \(output)")
            }
            return object
        }
    }

    package let identifier: Int32
    /// Keeps the folder alive as long as this object.
    private let folder: TemporaryFolder
    private let outputPath: String
    private let errorPath: String
    private let status: EndStatus
    private let ended = DispatchSemaphore(value: 0)

    /// The folder of the built programs, which is the folder of the test binary.
    package static let folder = Bundle.main.bundleURL.path

    package static let root = URL(filePath: #filePath)
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent().path

    /// Returns the path of a built program. A path that begins with `/` is returned unchanged.
    package static func path(of name: String) -> String {
        name.hasPrefix("/") ? name : folder + "/" + name
    }

    /// - Parameters:
    ///   - folder: The folder for its files, and its home directory.
    ///   - input: The text of standard input. Without it, standard input is empty.
    ///   - output: The descriptor for standard output. Without it, the output goes to a file, which the property
    ///     `output` reads.
    ///   - isDialogue: Whether the program also reads its standard input from the descriptor of its standard output.
    ///   - passed: The descriptors that the program gets as 3 and up.
    ///   - terminal: The path of the terminal for standard input and standard error.
    package init(
        _ name: String,
        _ arguments: [String],
        in folder: TemporaryFolder,
        environment: [String: String] = [:],
        input: String? = nil,
        output: Int32? = nil,
        isDialogue: Bool = false,
        passing passed: [Int32] = [],
        terminal: String? = nil
    ) throws {
        let variables = ["PATH": ProcessInfo.processInfo.environment["PATH"] ?? "", "HOME": folder.path]
        self.folder = folder
        outputPath = folder.fresh("out")
        errorPath = terminal ?? folder.fresh("err")
        var inputPath = terminal ?? "/dev/null"
        if let input {
            inputPath = folder.fresh("in")
            try Data(input.utf8).write(to: URL(fileURLWithPath: inputPath))
        }
        var spawning = Spawning(Self.path(of: name), arguments)
        spawning.environment = variables.merging(environment) { $1 }
        spawning.inputPath = isDialogue ? nil : inputPath
        spawning.output = output.map(Spawning.Output.descriptor) ?? .file(outputPath)
        spawning.errorPath = errorPath
        spawning.passed = passed
        spawning.leadsSession = terminal != nil
        identifier = try spawning.start()
        let (status, ended, identifier) = (EndStatus(), ended, identifier)
        Thread.detachNewThread {
            status.awaitEnd(of: identifier)
            ended.signal()
        }
        self.status = status
    }

    package var output: String { (try? String(contentsOfFile: outputPath, encoding: .utf8)) ?? "" }
    package var errors: String { (try? String(contentsOfFile: errorPath, encoding: .utf8)) ?? "" }
    package var isRunning: Bool { status.value == nil }

    /// Waits until standard error has a line that contains this text.
    package func awaitError(_ text: String) throws {
        let tail = try RunningProgram("/usr/bin/tail", ["--lines=+1", "--follow", errorPath], in: folder)
        defer { tail.program.signal(SIGKILL) }
        while let line = try? tail.lines.next() {
            if line.contains(text) { return }
        }
        throw TestFailure(description: "Nothing said \(text): \(errors)")
    }

    package func signal(_ signal: Int32) {
        if isRunning { kill(identifier, signal) }
    }

    /// Waits until the program ends. If it does not end in time, kills it and throws.
    @discardableResult
    package func wait() throws -> Ending {
        guard ended.wait(timeout: .now() + .seconds(60)) == .success, let status = status.value else {
            signal(SIGKILL)
            throw TestFailure(description: "Process \(identifier) did not end within 60 s: \(errors)")
        }
        ended.signal()
        // The lower seven bits of the status are the signal that ended the process, the next byte is its exit code.
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

/// A program whose standard output a test reads while the program runs.
package final class RunningProgram {
    package let program: Program
    private let socket: TestSocket
    package var lines: LineReader { socket.lines }

    /// - Parameter isDialogue: Whether `tell` writes to the program's standard input. Otherwise standard input is
    ///   empty.
    package init(
        _ name: String,
        _ arguments: [String],
        in folder: TemporaryFolder,
        environment: [String: String] = [:],
        isDialogue: Bool = false,
        passing passed: [Int32] = []
    ) throws {
        let (ours, its) = try makeSocketPair()
        socket = TestSocket(adopting: ours)
        defer { close(its) }
        program = try Program(
            name,
            arguments,
            in: folder,
            environment: environment,
            output: its,
            isDialogue: isDialogue,
            passing: passed
        )
    }

    package func object() throws -> [String: Any] {
        guard let line = try lines.next(),
            let object = try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any]
        else { throw TestFailure(description: "No JSON object came: \(program.errors)") }
        return object
    }

    /// Writes one line to the program's standard input.
    package func tell(_ line: String = "") throws { try socket.send(line + "\n") }

    /// Shuts down both directions of the socket, so that the program can no longer write or read.
    package func stopListening() { socket.closeConnection() }
}
