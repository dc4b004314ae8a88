import Glibc
import JunctionSystemd
import Logging
import Testing

@testable import JunctionDaemon

@Suite struct DaemonLogTests {
    @Test func `a reload changes the level of loggers that exist already`() throws {
        let log = try DaemonLog(to: .lines(descriptor: -1, isTerminal: false), level: .info)
        let logger = log.logger("session")
        #expect(logger.logLevel == .info)

        log.level = .trace

        #expect(logger.logLevel == .trace)
        #expect(log.logger("socket").logLevel == .trace)
    }

    @Test func `metadata has the names of the log keys`() {
        let metadata = Logger.Metadata.of(.stateChanged, [.state: "established", .peerUnit: "a.service"])

        #expect(metadata["state"] == "established")
        #expect(metadata["peerUnit"] == "a.service")
        #expect(metadata[JournalEntry.messageIdentifierKey] == .string(LoggedEvent.stateChanged.rawValue))
    }

    @Test func `each kind of event has its own valid MESSAGE_ID`() {
        let identifiers = LoggedEvent.allCases.map(\.rawValue)

        #expect(Set(identifiers).count == identifiers.count)
        #expect(identifiers.allSatisfy { $0.count == 32 && $0.allSatisfy(\.isHexDigit) && $0 == $0.lowercased() })
    }
}
