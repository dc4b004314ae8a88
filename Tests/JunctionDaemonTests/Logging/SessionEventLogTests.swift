import JunctionSession
import JunctionSystemd
import Logging
import Synchronization
import Testing

@testable import JunctionDaemon

/// The log lines about failed renewals and their end.
struct SessionEventLogTests {
    private let journal = Journal()

    private func eventLog() -> SessionEventLog {
        let journal = journal
        let logger = Logger(label: "session") { _ in journal.handler }
        return SessionEventLog(logger: logger, notifier: Notifier(socket: nil), crashPoint: CrashPoint(variables: [:]))
    }

    private let timeout = Unavailability(
        "No answer from auth.example.com within 10 s",
        cause: .timeout,
        host: "auth.example.com"
    )

    @Test func `a failed renewal is logged with its cause, its host and the next attempt`() {
        let nextAttempt = WallTime(milliseconds: 1_800_000_000_000)
        eventLog().happened(.renewalEnded(.unavailable, timeout, nextAttempt: nextAttempt))

        let line = journal.lines.first
        #expect(line?["error"] == "No answer from auth.example.com within 10 s")
        #expect(line?["cause"] == "timeout")
        #expect(line?["host"] == "auth.example.com")
        #expect(line?["nextAttempt"] == "2027-01-15T08:00:00Z")
        #expect(line?[JournalEntry.messageIdentifierKey] == LoggedEvent.renewalFailed.rawValue)
    }

    @Test func `a failed sign-in is logged with its cause, its host and its remedy`() {
        var failure = timeout
        failure.remedy = "sign in with the same once the provider answers"
        eventLog().happened(.exchangeEnded(.unavailable, failure))

        let line = journal.lines.first
        #expect(line?["outcome"] == "unavailable")
        #expect(
            line?["error"]
                == "No answer from auth.example.com within 10 s: sign in with the same once the provider answers"
        )
        #expect(line?["cause"] == "timeout")
        #expect(line?["host"] == "auth.example.com")
        #expect(line?[JournalEntry.messageIdentifierKey] == LoggedEvent.signInFailed.rawValue)
    }

    @Test func `a failed sign-in is logged with the settings that wait for a restart`() {
        let eventLog = eventLog()
        let storage = StorageReport(sealedWith: "file")
        let facts = Snapshot.Facts(state: .notLoggedIn, provider: "junction", storage: storage)
        eventLog.reloaded(facts, pendingRestart: ["junction.authUrl", "tls.caFile"])

        eventLog.happened(.exchangeEnded(.unavailable, timeout))

        #expect(journal.lines.first?["settings"] == "junction.authUrl, tls.caFile")
    }

    @Test func `the end of an outage is logged once, and an ordinary renewal is not`() {
        let eventLog = eventLog()
        eventLog.happened(.renewalEnded(.succeeded))
        #expect(journal.count(of: .renewalsResumed) == 0)

        eventLog.happened(.renewalEnded(.unavailable, timeout))
        eventLog.happened(.renewalEnded(.unavailable, timeout))
        eventLog.happened(.renewalEnded(.succeeded))
        eventLog.happened(.renewalEnded(.succeeded))

        #expect(journal.count(of: .renewalsResumed) == 1)
        #expect(journal.lines.contains { $0["count"] == "2" && $0["lasted"] == "0 s" })
    }

    @Test func `an outage that a sign-out or a termination ends is not logged as resumed`() {
        let eventLog = eventLog()
        eventLog.happened(.renewalEnded(.unavailable, timeout))
        eventLog.happened(.signedOut)
        eventLog.happened(.renewalEnded(.succeeded))
        eventLog.happened(.renewalEnded(.unavailable, timeout))
        eventLog.happened(.renewalEnded(.terminated, Unavailability("Deleted (invalid_token)", cause: .termination)))
        eventLog.happened(.renewalEnded(.succeeded))

        #expect(journal.count(of: .renewalsResumed) == 0)
    }

    @Test func `a sign-in ends the outage of the session before without a line`() {
        let eventLog = eventLog()
        eventLog.happened(.renewalEnded(.unavailable, timeout))
        eventLog.happened(.exchangeEnded(.succeeded, nil))
        eventLog.happened(.renewalEnded(.succeeded))

        let resumed = LoggedEvent.renewalsResumed.rawValue
        #expect(!journal.lines.contains { $0[JournalEntry.messageIdentifierKey] == resumed })
    }

    @Test func `the warning about a missing handler comes after a sign-in only, with the expiry time`() {
        let eventLog = eventLog()
        var facts = Snapshot.Facts(
            state: .established,
            provider: "social",
            storage: StorageReport(sealedWith: "file")
        )
        let end = WallTime(milliseconds: 1_800_000_000_000)
        facts.accessToken = TokenFacts(issuedAt: WallTime(milliseconds: 0), expiresAt: end, generation: 1)
        facts.renewal.needsHandler = true
        func change() { eventLog.changed(Snapshot(revision: 1, changedAt: WallTime(milliseconds: 0), facts: facts)) }
        func isTold() -> Bool { journal.lines.contains { $0["ends"] == "2027-01-15T08:00:00Z" } }

        change()
        eventLog.happened(.exchangeEnded(.refused))
        change()
        #expect(!isTold())

        eventLog.happened(.exchangeEnded(.succeeded))
        change()
        #expect(isTold())
    }

    @Test func `a session that becomes durable again is logged once`() {
        let eventLog = eventLog()
        for durable in [true, false, false, true, true] {
            let storage = StorageReport(sealedWith: "file", durable: durable)
            let facts = Snapshot.Facts(state: .established, provider: "junction", storage: storage)
            eventLog.changed(Snapshot(revision: 1, changedAt: WallTime(milliseconds: 0), facts: facts))
        }

        #expect(journal.count(of: .durableAgain) == 1)
    }
}

/// Collects the metadata of log lines.
private final class Journal: Sendable {
    private let state = Mutex<[[String: String]]>([])

    var lines: [[String: String]] { state.withLock { $0 } }
    var handler: some LogHandler { Handler(journal: self) }

    func count(of event: LoggedEvent) -> Int {
        lines.count { $0[JournalEntry.messageIdentifierKey] == event.rawValue }
    }

    private struct Handler: LogHandler {
        let journal: Journal
        var metadata: Logger.Metadata = [:]
        var logLevel = Logger.Level.trace

        subscript(metadataKey key: String) -> Logger.Metadata.Value? {
            get { metadata[key] }
            set { metadata[key] = newValue }
        }

        func log(event: LogEvent) {
            let values = (event.metadata ?? [:]).mapValues { "\($0)" }
            journal.state.withLock { $0.append(values) }
        }
    }
}
