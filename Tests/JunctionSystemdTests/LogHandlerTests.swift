import Glibc
import JunctionSystemd
import Logging
import Synchronization
import Testing

@Suite struct LogHandlerTests {
    @Test func `every value becomes a field of the journal and is also in the message`() {
        let journal = FakeJournal()
        var logger = Logger(label: "test") { _ in journal.handler(.info) }
        logger[metadataKey: "provider"] = "junction"

        logger.notice("Session state changed", metadata: ["state": "established", "peerUnit": "health-sync.service"])

        let fields = journal.entries[0]
        #expect(
            fields[0]
                == "MESSAGE=Session state changed peerUnit=health-sync.service provider=junction state=established"
        )
        #expect(fields.contains("PRIORITY=5"))
        #expect(fields.contains("JUNCTIOND_STATE=established"))
        #expect(fields.contains("JUNCTIOND_PEER_UNIT=health-sync.service"))
        #expect(fields.contains("JUNCTIOND_PROVIDER=junction"))
        #expect(fields.contains { $0.hasPrefix("CODE_FILE=") && $0.hasSuffix("LogHandlerTests.swift") })
    }

    @Test func `the kind of an event is its MESSAGE_ID and not part of the text`() {
        let journal = FakeJournal()
        let logger = Logger(label: "test") { _ in journal.handler(.info) }

        logger.info("Signed in", metadata: ["messageId": "0123456789abcdef0123456789abcdef"])

        #expect(journal.entries[0].contains("MESSAGE_ID=0123456789abcdef0123456789abcdef"))
        #expect(journal.entries[0][0] == "MESSAGE=Signed in")
    }

    @Test(
        arguments: [
            ("peerUid", "JUNCTIOND_PEER_UID"),
            ("generation", "JUNCTIOND_GENERATION"),
            ("http.status-code", "JUNCTIOND_HTTP_STATUS_CODE"),
            ("userID", "JUNCTIOND_USER_ID"),
            ("größe", "JUNCTIOND_GR____E"),
        ]
    )
    func `a field name contains only characters that the journal accepts`(key: String, name: String) {
        let journal = FakeJournal()
        let logger = Logger(label: "test") { _ in journal.handler(.info) }

        logger.info("Note", metadata: [key: "x"])

        #expect(journal.entries[0].contains(name + "=x"))
    }

    @Test func `a name that is too long for the journal is cut`() throws {
        let journal = FakeJournal()
        let logger = Logger(label: "test") { _ in journal.handler(.info) }

        logger.info("Note", metadata: [String(repeating: "aB", count: 100): "x"])

        let field = try #require(journal.entries[0].last)
        #expect(field.prefix { $0 != "=" }.count <= 64)
    }

    @Test func `a reload changes the level of every logger without its own level`() {
        let journal = FakeJournal()
        let threshold = LogThreshold(.info)
        let first = Logger(label: "first") { _ in journal.handler(threshold) }
        var second = Logger(label: "second") { _ in journal.handler(threshold) }
        second.logLevel = .error

        threshold.level = .debug
        first.debug("Heard")
        second.debug("Not heard")

        #expect(journal.entries.map { $0[0] } == ["MESSAGE=Heard"])
    }

    @Test(
        arguments: [
            (Logger.Level.trace, "<7>"), (.debug, "<7>"), (.info, "<6>"), (.notice, "<5>"), (.warning, "<4>"),
            (.error, "<3>"), (.critical, "<2>"),
        ]
    )
    func `a line outside a terminal begins with its priority`(level: Logger.Level, prefix: String) throws {
        let pipe = try LogPipe()
        let logger = Logger(label: "test") { _ in pipe.handler(.trace, isTerminal: false) }

        logger.log(level: level, "Signed in", metadata: ["generation": "3"])

        #expect(pipe.received() == prefix + "Signed in generation=3\n")
    }

    @Test func `a line on a terminal begins with the name of its level`() throws {
        let pipe = try LogPipe()
        let logger = Logger(label: "test") { _ in pipe.handler(.info, isTerminal: true) }

        logger.warning("Disk is full", metadata: ["messageId": "0123456789abcdef0123456789abcdef"])
        logger.debug("Not heard")

        #expect(pipe.received() == "warning: Disk is full\n")
    }

    @Test func `a value from outside cannot begin a line, send terminal escapes or look like another value`() throws {
        let pipe = try LogPipe()
        let logger = Logger(label: "test") { _ in pipe.handler(.info, isTerminal: false) }

        logger.info("Refused", metadata: ["a": "x\n<2>Faked", "b": "\u{1B}[31m", "c": "y d=1 \"", "e": ""])

        #expect(
            pipe.received()
                == "<6>Refused a=\"x\\u{a}<2>Faked\" b=\"\\u{1b}[31m\" c=\"y d=1 \\\"\" e=\"\"\n"
        )
    }

    @Test func `an error is logged with its description`() {
        let journal = FakeJournal()
        let logger = Logger(label: "test") { _ in journal.handler(.info) }

        logger.error("The write failed", error: PlainError())

        #expect(journal.entries[0][0] == "MESSAGE=The write failed error=\"No space left on device\"")
        #expect(journal.entries[0].contains("JUNCTIOND_ERROR=No space left on device"))
    }

    @Test func `the journal is chosen only if the descriptor leads there`() throws {
        let pipe = try LogPipe()
        var status = stat()
        try #require(fstat(pipe.writing, &status) == 0)
        let lines = LogDestination.lines(descriptor: pipe.writing, isTerminal: false)

        let stream = "\(status.st_dev):\(status.st_ino)"
        #expect(LogDestination(descriptor: pipe.writing, journalStream: stream) == .journal)
        #expect(LogDestination(descriptor: pipe.writing, journalStream: "1:2") == lines)
        #expect(LogDestination(descriptor: pipe.writing, journalStream: nil) == lines)
    }
}

private struct PlainError: Error, CustomStringConvertible {
    let description = "No space left on device"
}

private final class FakeJournal: Sendable {
    private let received = Mutex<[[String]]>([])

    var entries: [[String]] { received.withLock { $0 } }

    func handler(_ level: Logger.Level) -> EntryHandler { handler(LogThreshold(level)) }

    func handler(_ threshold: LogThreshold) -> EntryHandler {
        EntryHandler(.journal, threshold: threshold) { entry in
            if case .fields(let fields) = entry { self.received.withLock { $0.append(fields) } }
        }
    }
}

private final class LogPipe: Sendable {
    let writing: Int32
    private let reading: Int32

    init() throws {
        var ends: [Int32] = [0, 0]
        try #require(pipe(&ends) == 0)
        reading = ends[0]
        writing = ends[1]
        // If a line was not written, the test fails instead of waiting for ever.
        _ = fcntl(reading, F_SETFL, O_NONBLOCK)
    }

    func handler(_ level: Logger.Level, isTerminal: Bool) -> EntryHandler {
        let lines = LogDestination.lines(descriptor: writing, isTerminal: isTerminal)
        return EntryHandler(lines, threshold: LogThreshold(level), deliver: lines.write)
    }

    func received() -> String {
        var buffer = [UInt8](repeating: 0, count: 4_096)
        let count = max(read(reading, &buffer, buffer.count), 0)
        return String(decoding: buffer.prefix(count), as: UTF8.self)
    }

    deinit {
        close(reading)
        close(writing)
    }
}
