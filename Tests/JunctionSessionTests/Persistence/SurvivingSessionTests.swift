import Testing

@testable import JunctionSession

/// A session that survived in the service manager's file-descriptor store and is not on the disk yet.
struct SurvivingSessionTests {
    private let record = Bench.signedIn().written.last!

    private func survived() -> Bench { Bench(isDurable: false, .restored(record, SessionSecrets(), damaged: nil)) }

    @Test func `a surviving session is served at once, reported as not durable, and written soon`() throws {
        var bench = survived()
        #expect(bench.state == .established && bench.isServed)
        #expect(!bench.facts.storage.durable)

        bench.pass(.seconds(1))

        let written = try #require(bench.written.first)
        #expect(written.supersedes(record))
        #expect(written.content == record.content)
        #expect(bench.facts.storage.durable)
    }

    @Test func `the pauses between writes grow while the disk refuses them`() {
        var bench = survived()
        bench.writeFailure = StoreFailure("No space left")

        let pauses = (1...8).map { writes in
            let before = bench.now.uptime
            bench.passToAlarm()
            #expect(bench.unopened.count == writes)
            return bench.now.uptime - before
        }

        #expect(pauses == pauses.sorted())
        #expect(pauses.last == .seconds(60))
        #expect(!bench.facts.storage.durable)
    }
}
