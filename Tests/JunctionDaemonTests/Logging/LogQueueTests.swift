import Glibc
import Logging
import Synchronization
import Testing

@testable import JunctionDaemon
@testable import JunctionSystemd

/// The log when whoever reads it is slow, or has stopped.
struct LogQueueTests {
    @Test func `nobody who logs waits for a reader that does not read, and what is lost is counted in its place`()
        throws
    {
        let pipe = try Pipe()
        let log = try DaemonLog(to: .lines(descriptor: pipe.writing, isTerminal: false), level: .info)
        let logger = log.logger("test")
        let count = 30_000
        let padding = String(repeating: "x", count: 80)

        // Far more than the pipe and the queue hold: with a write for each, the first lines would be the last.
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

    @Test func `the end waits for the last lines`() throws {
        let pipe = try Pipe()
        let log = try DaemonLog(to: .lines(descriptor: pipe.writing, isTerminal: false), level: .info)
        let logger = log.logger("test")

        for number in 0..<100 { logger.notice("\(number)") }
        #expect(log.close(within: .seconds(60)))
        logger.notice("Too late")
        pipe.finish()

        #expect(pipe.readToEnd().text() == (0..<100).map { "<5>\($0)\n" }.joined())
    }

    @Test func `the end does not wait for a reader that has stopped`() throws {
        let pipe = try Pipe()
        let log = try DaemonLog(to: .lines(descriptor: pipe.writing, isTerminal: false), level: .info)
        let logger = log.logger("test")
        for _ in 0..<2_000 { logger.info("\(String(repeating: "x", count: 80))") }

        #expect(!log.close(within: .zero))

        // The thread that is stuck ends with the reader.
        pipe.stopReading()
    }
}

/// A pipe that is read when the test says so.
private final class Pipe: Sendable {
    private let reading: Int32
    let writing: Int32

    init() throws {
        // Whoever writes to a pipe without a reader is told so by an error alone.
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

/// Reads to the end on a thread of its own.
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
