import Foundation

/// A program that runs as a process of its own: one of the built ones, or one of the system's. What it prints goes to files,
/// so that nothing can block it. It is killed with this object.
package final class Program: Sendable {
    package typealias Failure = TestFailure

    /// How a finished program ended.
    package struct Ending: Sendable {
        package var status: Int32
        package var wasKilled: Bool
        package var output: String
        package var errors: String

        /// The one JSON document that it printed.
        package func json() throws -> [String: Any] {
            guard let object = try JSONSerialization.jsonObject(with: Data(output.utf8)) as? [String: Any] else {
                throw Failure(description: "Not a JSON object: \(output)")
            }
            return object
        }
    }

    package let identifier: Int32
    /// Keeps the folder for as long as the program is known.
    private let folder: TemporaryFolder
    private let outputPath: String
    private let errorPath: String
    private let status: EndStatus
    private let ended = DispatchSemaphore(value: 0)

    /// Where the build put the programs: beside this test.
    package static let folder = Bundle.main.bundleURL.path

    /// The repository.
    package static let root = URL(filePath: #filePath)
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent().path

    /// The path of a built program, or of one of the system's if it is installed.
    package static func path(of name: String) -> String {
        name.hasPrefix("/") ? name : folder + "/" + name
    }

    /// - Parameters:
    ///   - folder: where its files are, and its home.
    ///   - input: what it reads; nothing without it.
    ///   - output: where standard output goes; without it, to a file that `output` reads.
    ///   - isDialogue: whether it reads from where its standard output goes.
    ///   - passed: what it finds from descriptor 3 on.
    ///   - terminal: the terminal that is its standard input and error.
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

    /// Waits for a line on standard error that holds this text.
    package func awaitError(_ text: String) throws {
        let tail = try TalkingProgram("/usr/bin/tail", ["--lines=+1", "--follow", errorPath], in: folder)
        defer { tail.program.signal(SIGKILL) }
        while let line = try? tail.lines.next() {
            if line.contains(text) { return }
        }
        throw Failure(description: "Nothing said \(text): \(errors)")
    }

    package func signal(_ signal: Int32) {
        if isRunning { kill(identifier, signal) }
    }

    /// Waits for its end; a program that does not end is a failure, not a hang.
    @discardableResult
    package func wait(atMost seconds: Int = 60) throws -> Ending {
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

/// A program whose standard output is read while it runs.
package final class TalkingProgram {
    package let program: Program
    private let socket: TestSocket
    package var lines: LineReader { socket.lines }

    /// - Parameter isDialogue: whether its standard input is what `tell` says; without it, there is none.
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

    /// The next line, as a JSON object.
    package func object() throws -> [String: Any] {
        guard let line = try lines.next(),
            let object = try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any]
        else { throw TestFailure(description: "No JSON object came: \(program.errors)") }
        return object
    }

    /// Says one line.
    package func tell(_ line: String = "") throws { try socket.send(line + "\n") }

    /// From now on there is nobody to write to or to read from.
    package func stopListening() { socket.hangUp() }
}
