import JunctionSession
import JunctionTesting
import Testing

@testable import JunctionVault

/// Copies of a record that the service manager kept as file descriptors.
@Suite struct SurvivingCopyTests {
    private let session = SessionRecord.test(7, edition: 2)

    @Test func `a newer copy wins and is written to disk`() {
        let copy = sealed(.test(8))
        let disk = SimulatedDisk(live: sealed(session))
        var store = RecordStore(disk, .key(.test()))

        let found = store.restore(considering: [copy, sealed(.test(5)), []])

        #expect(found.record?.generation == 8)
        #expect(disk.content[.record] == copy)
    }

    @Test func `a single copy is restored as the session`() {
        let disk = SimulatedDisk(live: nil)
        var store = RecordStore(disk, .key(.test()))

        #expect(store.restore(considering: [sealed(session)]).record == session)
        #expect(disk.store().found.record == session)
    }

    @Test func `an older or broken copy changes nothing`() {
        let live = sealed(session)
        let disk = SimulatedDisk(live: live)
        var store = RecordStore(disk, .key(.test()))

        let found = store.restore(considering: [sealed(.test(6)), sealed(.test(9)).altered(), [1, 2, 3]])

        #expect(found.record == session)
        #expect(disk.content[.record] == live)
    }

    @Test func `a sign-in that was never written is restored from the vault's sealed copy`() throws {
        let temporary = TemporaryFolder()
        let directory = try temporary.opened()
        let vault = Vault(directory, try InstanceLock(directory), .key(.test()))
        #expect(vault.sealedCopy(of: session, .test(7)) == nil)
        #expect(vault.restore().isAbsent)
        let copy = try #require(vault.sealedCopy(of: session, .test(7)))

        let next = SimulatedDisk()
        var store = RecordStore(next, .key(.test()))
        let found = store.restore(considering: [copy])

        #expect(found.record == session)
        #expect(next.store().found.record == session)
    }

    @Test func `a copy does not report a damaged record again that a sign-in has acknowledged`() async throws {
        let temporary = TemporaryFolder()
        try temporary.write(Array("\(thisInstallation)\n".utf8), to: "installation-id")
        try temporary.write(sealed(session).altered(), to: "session.sealed")
        let directory = try temporary.opened()
        let vault = Vault(directory, try InstanceLock(directory), .key(.test()))
        #expect(vault.restore().unreadable?.status == .damaged)
        try await vault.write(.test(8), .test(8), unopened: .acknowledged)
        try await vault.write(.test(9), .test(9))

        let copy = try #require(vault.sealedCopy(of: .test(10), .test(10)))

        var store = RecordStore(directory, .key(.test()))
        let found = store.restore(considering: [copy])
        #expect(found.record?.generation == 10)
        #expect(found.damaged == nil)
        var next = RecordStore(directory, .key(.test()))
        #expect(next.restore().damaged == nil, "the copy is the record file now")
    }

    @Test func `a copy of another installation is locked`() {
        let disk = SimulatedDisk(live: nil)
        var store = RecordStore(disk, .key(.test()))

        let found = store.restore(considering: [sealed(session, by: otherInstallation)])

        #expect(found.unreadable?.status == .locked)
    }

    @Test func `an installation does not take its id from another one's tombstone`() {
        let disk = SimulatedDisk([.record: sealed(.test(8, .signedOut), by: otherInstallation)])

        let (store, found) = disk.store()

        #expect(found.record == .test(8, .signedOut))
        #expect(store.installation?.text != otherInstallation)
    }
}
