import Foundation

/// A process that runs to its end, or until it has written a word.
enum Child {
    enum End: Equatable {
        case exited(Int32)
        case signalled
        case timedOut
        /// It wrote the word, and was stopped.
        case said
    }

    /// Runs a command with its output in a file.
    ///
    /// - Parameters:
    ///   - timeout: in seconds.
    ///   - memory: the most it may ask for, in KiB.
    ///   - word: the command is stopped as soon as it has written this.
    static func run(
        _ command: [String],
        environment: [String: String],
        log: URL,
        timeout: Double,
        memory: Int? = nil,
        stopping word: String? = nil
    ) async throws -> End {
        guard FileManager.default.createFile(atPath: log.path, contents: nil) else {
            throw Trouble("\(log.path) cannot be written")
        }
        let output = try FileHandle(forWritingTo: log)
        let limit = memory.map { "ulimit -v \($0); " } ?? ""
        let script = "\(limit)exec timeout \(timeout) \"$@\""
        // A thread that waits in read(2): `readabilityHandler` can miss an end that comes while it reads.
        return try await withCheckedThrowingContinuation { continuation in
            Thread.detachNewThread {
                continuation.resume(
                    with: Result {
                        let process = Process()
                        process.executableURL = URL(filePath: "/bin/sh")
                        process.arguments = ["-c", script, "sh"] + command
                        process.environment = ProcessInfo.processInfo.environment.merging(environment) { $1 }
                        return try end(of: process, into: output, stopping: word.map { Data($0.utf8) })
                    }
                )
            }
        }
    }

    private static func end(of process: Process, into output: FileHandle, stopping word: Data?) throws -> End {
        let pipe = Pipe()
        process.standardInput = FileHandle.nullDevice
        (process.standardOutput, process.standardError) = (pipe, pipe)
        try process.run()
        // With this end open, what the child writes would never end.
        try? pipe.fileHandleForWriting.close()
        var last = Data()
        var hasSaid = false
        while case let data = pipe.fileHandleForReading.availableData, !data.isEmpty {
            try output.write(contentsOf: data)
            guard let word, !hasSaid else { continue }
            last.append(data)
            hasSaid = last.range(of: word) != nil
            last = last.suffix(word.count - 1)
            // timeout(1) passes the signal on.
            if hasSaid { process.terminate() }
        }
        process.waitUntilExit()
        if hasSaid { return .said }
        if process.terminationReason == .uncaughtSignal { return .signalled }
        // 124: timeout(1) has ended the command.
        return process.terminationStatus == 124 ? .timedOut : .exited(process.terminationStatus)
    }
}
