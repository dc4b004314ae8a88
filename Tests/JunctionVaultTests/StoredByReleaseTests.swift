import Foundation
import JunctionSession
import JunctionTesting
import Testing

@testable import JunctionVault

/// Every later release must read the files that an earlier release wrote.
@Suite struct StoredByReleaseTests {
    private let temporary: TemporaryFolder

    init() throws {
        temporary = TemporaryFolder()
        let fixture = URL(filePath: #filePath).deletingLastPathComponent()
            .appending(path: "Fixtures/written-by-0.1.0")
        for name in ["installation-id", "junctiond.key", "session.sealed"] {
            try temporary.write(Array(Data(contentsOf: fixture.appending(path: name))), to: name)
        }
    }

    private func restored() throws -> Restoration {
        let directory = try temporary.opened()
        let key = try SealingKey.file(in: directory)
        return Vault(directory, try InstanceLock(directory), .key(key)).restore()
    }

    @Test func `a record of release 0.1.0 is read with its secrets and its renewal intent`() throws {
        let found = try restored()

        let record = try #require(found.record)
        guard case .session(let stored) = record.content else {
            Issue.record("nobody is signed in: \(record.content)")
            return
        }
        #expect((record.generation, record.edition) == (1, 1))
        #expect(record.writtenAt == WallTime(milliseconds: 1_795_324_898_803))
        #expect(stored.identity.userId == "a32851d9-4eeb-42dc-a45a-490ccca700c2")
        #expect(stored.externalUserId?.text == "ext-anna")
        #expect(stored.scheme == .signInToken)
        #expect(stored.token?.life == .seconds(3_600))
        #expect(stored.renewalUnderWay && !stored.intentCannotBeResent && !stored.reauthenticationPending)
        #expect(stored.postponement == nil)
        #expect(found.secrets?.accessToken != nil && found.secrets?.refreshToken != nil)
    }

    @Test func `the machine restores a record of release 0.1.0 and retries its open renewal`() throws {
        let found = try restored()
        let record = try #require(found.record)
        var machine = SessionMachine(
            provider: "junction",
            schemes: [.signInToken: SchemeTraits(renewsByRefreshToken: true)],
            sealedWith: "file",
            seed: 1
        )
        let now = Moment(wall: record.writtenAt + .seconds(2), uptime: Uptime(milliseconds: 9_000))

        let effects = machine.restored(found, secrets: SecretRef(number: 7), now: now)

        let identity = try #require(machine.identity)
        #expect(machine.facts(now: now).state == .established)
        #expect(effects == [.renew(AttemptID(number: 1), identity, with: SecretRef(number: 7), using: nil)])
    }
}
