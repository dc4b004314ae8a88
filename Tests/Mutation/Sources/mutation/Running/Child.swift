import Foundation
import Glibc

/// One process that is run to its end, or to ours.
enum Child {
    enum End: Equatable {
        case exited(Int32)
        case signalled(Int32)
        case timedOut
        /// It wrote what was waited for.
        case said
    }

    /// The most memory a child may ask for, in KiB: a mutant that never stops appending shall not fill the machine.
    private static let mostMemory = 8 << 20

    /// Runs a command with its output in a file.
    ///
    /// - Parameter stopping: the child is killed as soon as it has written this.
    static func run(
        _ command: [String],
        environment: [String: String],
        log: URL,
        timeout: Double,
        stopping word: String? = nil
    ) async throws -> End {
        guard FileManager.default.createFile(atPath: log.path, contents: nil) else {
            throw Trouble("\(log.path) cannot be written")
        }
        let output = try FileHandle(forWritingTo: log)
        defer { try? output.close() }
        let process = Process()
        process.executableURL = URL(filePath: "/bin/sh")
        // Only what is watched is limited: a compiler may have what it wants. The processor's time as well, so that a
        // mutant which never ends does not outlive this program.
        let limit = word == nil ? "" : "ulimit -v \(mostMemory); ulimit -t \(Int(timeout) * 4); "
        process.arguments = ["-c", limit + "exec \"$@\"", "sh"] + command
        process.environment = ProcessInfo.processInfo.environment.merging(environment) { $1 }
        process.standardOutput = output
        process.standardError = output
        process.standardInput = FileHandle.nullDevice
        try process.run()
        return try await wait(for: process, log, timeout, word.map { Data($0.utf8) })
    }

    private static func wait(for process: Process, _ log: URL, _ timeout: Double, _ word: Data?) async throws -> End {
        let clock = ContinuousClock()
        let deadline = clock.now + .seconds(timeout)
        while process.isRunning {
            if clock.now > deadline { return kill(process, .timedOut) }
            if let word, try Data(contentsOf: log).range(of: word) != nil { return kill(process, .said) }
            try await Task.sleep(for: .milliseconds(10))
        }
        if process.terminationReason == .uncaughtSignal { return .signalled(process.terminationStatus) }
        return .exited(process.terminationStatus)
    }

    private static func kill(_ process: Process, _ end: End) -> End {
        Glibc.kill(process.processIdentifier, SIGKILL)
        process.waitUntilExit()
        return end
    }
}
