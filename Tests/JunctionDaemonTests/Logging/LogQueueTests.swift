import Glibc
import Logging
import Synchronization
import Testing

@testable import JunctionDaemon
@testable import JunctionSystemd

/// The log when its reader is slow or has stopped.
struct LogQueueTests {
    @Test func `logging never blocks, and lost lines are counted in their place`()
        throws
    {
        let pipe = try Pipe()
        let log = try DaemonLog(to: .lines(descriptor: pipe.writing, isTerminal: false), level: .info)
        let logger = log.logger("test")
        let count = 30_000
        let padding = String(repeating: "x", count: 80)

        // Far more than the pipe and the queue can hold: if each call wrote directly, the first lines would block.
        for number in 0..<count { logger.info("\(number) \(padding)") }
        let reading = pipe.readToEnd()
        #expect(log.close(within: .seconds(60)))
        pipe.finish()

        let lines = reading.text().split(separator: "\n")
        let noted = lines.filter { $0.hasPrefix("<3>Log lines were lost") }
        let kept = lines.filter { $0.hasPrefix("<6>") }.map { Int($0.dropFirst(3).prefix { $0 != " " }) ?? -1 }
        let lost = noted.compactMap { $0.split(separator: "=").last.flatMap { Int($0) } }
        #expect(kept == kept.sorted())
        #expect(kept.first == 0)
        #expect(!lost.isEmpty)
        #expect(kept.count + lost.reduce(0, +) == count)
        #expect(lines.count == kept.count + noted.count)
    }

    @Test func `closing the log waits for the last lines`() throws {
        let pipe = try Pipe()
        let log = try DaemonLog(to: .lines(descriptor: pipe.writing, isTerminal: false), level: .info)
        let logger = log.logger("test")

        for number in 0..<100 { logger.notice("\(number)") }
        #expect(log.close(within: .seconds(60)))
        logger.notice("Too late")
        pipe.finish()

        #expect(pipe.readToEnd().text() == (0..<100).map { "<5>\($0)\n" }.joined())
    }

    @Test func `closing the log does not wait for a reader that has stopped`() throws {
        let pipe = try Pipe()
        let log = try DaemonLog(to: .lines(descriptor: pipe.writing, isTerminal: false), level: .info)
        let logger = log.logger("test")
        for _ in 0..<2_000 { logger.info("\(String(repeating: "x", count: 80))") }

        #expect(!log.close(within: .zero))

        // The blocked thread ends when the reader closes the pipe.
        pipe.stopReading()
    }
}

/// A pipe that the test reads at a chosen time.
private final class Pipe: Sendable {
    private let reading: Int32
    let writing: Int32

    init() throws {
        // A write to a pipe without a reader must return an error instead of ending the process.
        signal(SIGPIPE, SIG_IGN)
        var ends: [Int32] = [0, 0]
        try #require(pipe(&ends) == 0)
        (reading, writing) = (ends[0], ends[1])
    }

    func finish() { close(writing) }
    func stopReading() { close(reading) }

    func readToEnd() -> Reading {
        let reading = reading
        return Reading { read(reading, $0.baseAddress, $0.count) }
    }
}

/// Reads to the end of the pipe on a thread of its own.
private final class Reading: Sendable {
    private let thread: WaitingThread?
    private let shared: Shared

    init(_ read: @escaping @Sendable (UnsafeMutableRawBufferPointer) -> Int) {
        let result = Shared()
        thread = try? WaitingThread {
            var chunk = [UInt8](repeating: 0, count: 65_536)
            while true {
                let count = chunk.withUnsafeMutableBytes(read)
                guard count > 0 else { return }
                result.bytes.withLock { $0 += chunk[..<count] }
            }
        }
        shared = result
    }

    private final class Shared: Sendable {
        let bytes = Mutex<[UInt8]>([])
    }

    func text() -> String {
        thread?.join()
        return String(decoding: shared.bytes.withLock { $0 }, as: UTF8.self)
    }
}
