import Foundation
import Synchronization

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
    private let process: Mutex<Process>
    private let outputPath: String
    private let errorPath: String
    private let ended: DispatchSemaphore

    /// Where the build put the programs: beside this test.
    static let folder: String = {
        let tests = URL(fileURLWithPath: CommandLine.arguments[0]).resolvingSymlinksInPath().deletingLastPathComponent()
        let candidates = [tests.path, Program.root + "/.build/debug"]
        return candidates.first { FileManager.default.isExecutableFile(atPath: $0 + "/junctiond") } ?? candidates[1]
    }()

    static let root = URL(fileURLWithPath: #filePath)
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
        .path

    /// One start at a time: Foundation notices the end of a process by a socket, which another one that is started at
    /// the same moment would inherit and hold open.
    private static let spawning = Mutex(())

    /// The path of a built program, or of one of the system's if it is installed.
    static func path(of name: String) -> String {
        name.hasPrefix("/") ? name : folder + "/" + name
    }

    /// - Parameter output: where standard output goes; without it, to a file that `output` reads.
    init(
        _ name: String,
        _ arguments: [String],
        in folder: TemporaryFolder,
        environment: [String: String] = [:],
        input: String? = nil,
        output: Pipe? = nil
    ) throws {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: Self.path(of: name))
        process.arguments = arguments
        var variables = ["PATH": ProcessInfo.processInfo.environment["PATH"] ?? "", "HOME": folder.path]
        variables.merge(environment) { $1 }
        process.environment = variables
        outputPath = folder.fresh("out")
        errorPath = folder.fresh("err")
        if let output {
            process.standardOutput = output
        } else {
            process.standardOutput = try FileHandle.creating(outputPath)
        }
        process.standardError = try FileHandle.creating(errorPath)
        if let input {
            let path = folder.fresh("in")
            try Data(input.utf8).write(to: URL(fileURLWithPath: path))
            process.standardInput = FileHandle(forReadingAtPath: path)
        } else {
            process.standardInput = FileHandle(forReadingAtPath: "/dev/null")
        }
        let ended = DispatchSemaphore(value: 0)
        self.ended = ended
        process.terminationHandler = { _ in ended.signal() }
        try Self.spawning.withLock { _ in try process.run() }
        identifier = process.processIdentifier
        self.process = Mutex(process)
    }

    var output: String { (try? String(contentsOfFile: outputPath, encoding: .utf8)) ?? "" }
    var errors: String { (try? String(contentsOfFile: errorPath, encoding: .utf8)) ?? "" }
    var isRunning: Bool { process.withLock { $0.isRunning } }

    func signal(_ signal: Int32) {
        if isRunning { kill(identifier, signal) }
    }

    /// Waits for its end; a program that does not end is a failure, not a hang.
    @discardableResult
    func wait(atMost seconds: Int = 30) throws -> Ending {
        guard ended.wait(timeout: .now() + .seconds(seconds)) == .success else {
            signal(SIGKILL)
            throw Failure(description: "Process \(identifier) did not end within \(seconds) s: \(errors)")
        }
        ended.signal()
        return process.withLock { process in
            Ending(
                status: process.terminationStatus,
                wasKilled: process.terminationReason == .uncaughtSignal,
                output: output,
                errors: errors
            )
        }
    }

    deinit { signal(SIGKILL) }
}

/// A program whose standard output is read line by line while it runs.
final class TalkingProgram {
    let program: Program
    let lines: LineReader
    private let pipe = Pipe()

    init(
        _ name: String,
        _ arguments: [String],
        in folder: TemporaryFolder,
        environment: [String: String] = [:]
    ) throws {
        program = try Program(name, arguments, in: folder, environment: environment, output: pipe)
        lines = LineReader(pipe.fileHandleForReading.fileDescriptor)
    }

    /// The next line, as a JSON object.
    func object() throws -> [String: Any] {
        guard let line = try lines.next(),
            let object = try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any]
        else { throw Program.Failure(description: "No JSON object came: \(program.errors)") }
        return object
    }
}

extension FileHandle {
    fileprivate static func creating(_ path: String) throws -> FileHandle {
        let isMade = FileManager.default.createFile(
            atPath: path,
            contents: nil,
            attributes: [.posixPermissions: 0o600]
        )
        guard isMade, let handle = FileHandle(forWritingAtPath: path) else {
            throw Program.Failure(description: "\(path) cannot be written")
        }
        return handle
    }
}
