import Dispatch
import Foundation
import Glibc

/// Runs one process until it ends or is killed.
enum Child {
    enum End: Equatable {
        case exited(Int32)
        case signalled(Int32)
        case timedOut
        /// The process wrote the expected word.
        case said
    }

    /// The memory limit of a child in KiB, because a mutant may append without end.
    private static let mostMemory = 8 << 20

    /// Runs a command with its output in a file.
    ///
    /// - Parameter stopping: the word after whose output the child is killed.
    static func run(
        _ command: [String],
        environment: [String: String],
        log: URL,
        timeout: Double,
        stopping word: String? = nil
    ) async throws -> End {
        guard FileManager.default.createFile(atPath: log.path, contents: nil) else {
            throw MutationFailure("\(log.path) cannot be written")
        }
        let output = try FileHandle(forWritingTo: log)
        defer { try? output.close() }
        let process = Process()
        process.executableURL = URL(filePath: "/bin/sh")
        // Only tests are limited, a compiler is not. The limit of processor time also ends a mutant that survives this
        // program.
        let limit = word == nil ? "" : "ulimit -v \(mostMemory); ulimit -t \(Int(timeout) * 4); "
        process.arguments = ["-c", limit + "exec \"$@\"", "sh"] + command
        process.environment = ProcessInfo.processInfo.environment.merging(environment) { $1 }
        process.standardInput = FileHandle.nullDevice
        return try await run(process, into: output, timeout, word.map { Data($0.utf8) })
    }

    private enum Event {
        case wrote(Data)
        case ended
        case isLate
    }

    /// Waits for the end of the process, the expected word in its output, or the time limit.
    private static func run(
        _ process: Process,
        into output: FileHandle,
        _ timeout: Double,
        _ word: Data?
    ) async throws -> End {
        let (events, feed) = AsyncStream.makeStream(of: Event.self)
        let pipe = Pipe()
        if word == nil {
            (process.standardOutput, process.standardError) = (output, output)
        } else {
            (process.standardOutput, process.standardError) = (pipe, pipe)
        }
        process.terminationHandler = { _ in feed.yield(.ended) }
        let timer = DispatchSource.makeTimerSource()
        timer.setEventHandler { feed.yield(.isLate) }
        timer.schedule(deadline: .now() + timeout)
        try process.run()
        // This process must close its own end of the pipe, otherwise the output never ends.
        try? pipe.fileHandleForWriting.close()
        if word != nil { listen(to: pipe.fileHandleForReading, feed) }
        timer.resume()
        defer { timer.cancel() }

        var (hasEnded, isRead) = (false, word == nil)
        var last = Data()
        reading: for await event in events {
            switch event {
            case .wrote(let data) where data.isEmpty:
                isRead = true
            case .wrote(let data):
                try output.write(contentsOf: data)
                guard let word else { continue }
                last.append(data)
                if last.range(of: word) != nil { return kill(process, .said) }
                last = last.suffix(word.count - 1)
            case .isLate:
                if !hasEnded { return kill(process, .timedOut) }
                // Another process holds the pipe open, and no more output is expected.
                isRead = true
            case .ended:
                hasEnded = true
            }
            if hasEnded, isRead { break reading }
        }
        if process.terminationReason == .uncaughtSignal { return .signalled(process.terminationStatus) }
        return .exited(process.terminationStatus)
    }

    /// Reads on a thread that blocks in read(2), because `readabilityHandler` may miss an end of file during a read.
    private static func listen(to output: FileHandle, _ feed: AsyncStream<Event>.Continuation) {
        Thread.detachNewThread {
            while true {
                let data = output.availableData
                feed.yield(.wrote(data))
                if data.isEmpty { return }
            }
        }
    }

    private static func kill(_ process: Process, _ end: End) -> End {
        Glibc.kill(process.processIdentifier, SIGKILL)
        process.waitUntilExit()
        return end
    }
}
