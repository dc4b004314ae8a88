import Dispatch
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
        process.standardInput = FileHandle.nullDevice
        return try await run(process, into: output, timeout, word.map { Data($0.utf8) })
    }

    private enum Event {
        case wrote(Data)
        case ended
        case isLate
    }

    /// Whichever comes first decides: its end, the word in what it writes, or the end of our patience.
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
        // Ours is one more end of the pipe: with it open what the child writes would never end.
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
                // Somebody else holds its output open: nothing more is to be expected.
                isRead = true
            case .ended:
                hasEnded = true
            }
            if hasEnded, isRead { break reading }
        }
        if process.terminationReason == .uncaughtSignal { return .signalled(process.terminationStatus) }
        return .exited(process.terminationStatus)
    }

    /// On a thread that waits in read(2): `readabilityHandler` may never hear of an end that comes while it reads.
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
