import Glibc
import JunctionSession
import Synchronization
import Testing

@testable import JunctionVault

@Suite struct WriteTests {
    private let old = SessionRecord.test(7)
    private let new = SessionRecord.test(8)

    @Test func `a record is written, synced, renamed and its directory synced, in this order`() throws {
        let disk = SimulatedDisk(live: sealed(old))
        var (store, _) = disk.store()
        disk.forgetOperations()

        try store.write(new, .test(8), unopened: .unchanged)

        let verbs = disk.operations.map { $0.subject == "." ? "\($0.verb) ." : $0.verb }
        #expect(verbs == ["create", "write", "write", "sync", "close", "rename", "sync ."])
        #expect(disk.store().found.record == new)
    }

    @Test func `every step is reported after its completion`() throws {
        let disk = SimulatedDisk(live: sealed(old, key: .test(2)))
        let steps = Mutex<[VaultStep]>([])
        var store = RecordStore(disk, .key(.test())) { step in steps.withLock { $0.append(step) } }
        _ = store.restore()

        try store.write(new, .test(8))

        #expect(
            steps.withLock(\.self) == [
                .temporaryWritten, .temporarySynced, .predecessorPutAside, .renamed, .directorySynced,
            ]
        )
    }

    @Test func `the first write makes the installation id durable before the record`() throws {
        let disk = SimulatedDisk()
        var (store, _) = disk.store()

        try store.write(old, .test(7))

        let renamed = disk.operations.filter { $0.verb == "rename" }.compactMap {
            $0.subject.split(separator: " ").last
        }
        #expect(renamed == ["installation-id", "session.sealed"])
        #expect(disk.store().found.record == old)
    }

    // A disk that fails.

    /// The operations of one replacement, by number.
    static let replacement = 0..<7

    @Test(arguments: replacement, [EIO, EROFS, ENOSPC])
    func `a failure at any step leaves the old record or the new one, and the next write succeeds`(
        step: Int,
        code: Int32
    ) throws {
        let disk = SimulatedDisk(live: sealed(old))
        var (store, _) = disk.store()
        disk.forgetOperations()
        disk.fail { index, _ in index == step ? code : nil }

        #expect(throws: StoreFailure.self) { try store.write(new, .test(8), unopened: .unchanged) }

        let survivor = disk.afterKill().store().found
        #expect(survivor.record == old || survivor.record == new)
        #expect(survivor.damaged == nil)

        disk.fail(nil)
        try store.write(new, .test(8))
        #expect(disk.temporaries.isEmpty)
        #expect(disk.store().found.record == new)
    }

    @Test(arguments: ["write", "sync", "close", "rename"])
    func `repeated failures keep the old record and at most one temporary file`(verb: String) {
        let disk = SimulatedDisk(live: sealed(old))
        var (store, _) = disk.store()
        disk.fail { _, operation in operation.verb == verb ? EIO : nil }

        for generation in 8..<20 as Range<UInt64> {
            #expect(throws: StoreFailure.self) { try store.write(.test(generation), .test(generation)) }
        }

        #expect(disk.temporaries.count == (verb == "write" ? 0 : 1))
        #expect(disk.content[.record] != nil)
    }

    @Test func `after a failed sync the next attempt takes a new file`() throws {
        let disk = SimulatedDisk(live: sealed(old))
        var (store, _) = disk.store()
        disk.forgetOperations()
        disk.fail { _, operation in operation.verb == "sync" ? EIO : nil }
        #expect(throws: StoreFailure.self) { try store.write(new, .test(8)) }
        disk.fail(nil)

        try store.write(new, .test(8))

        let created = disk.operations.filter { $0.verb == "create" }.map(\.subject)
        #expect(created.count == 2 && Set(created).count == 2)
    }

    @Test func `an error names the file and the remedy`() throws {
        let disk = SimulatedDisk(live: sealed(old))
        var (store, _) = disk.store()
        disk.fail { _, operation in operation.verb == "create" ? EROFS : nil }

        let failure = #expect(throws: StoreFailure.self) { try store.write(new, .test(8)) }

        let message = try #require(failure).message
        #expect(message.hasPrefix("Cannot create /state/session.sealed.tmp-"))
        #expect(message.hasSuffix("Read-only file system. Make this file system writable."))
    }

    // A full disk.

    @Test(arguments: replacement)
    func `a full disk uses the reserve and keeps the record`(step: Int) throws {
        let disk = SimulatedDisk(live: sealed(old), [.reserve: [0]])
        var (store, _) = disk.store()
        disk.forgetOperations()
        let full = Mutex(true)
        disk.fail { index, operation in
            if operation.description == "remove reserve" { full.withLock { $0 = false } }
            return index >= step && full.withLock(\.self) ? ENOSPC : nil
        }

        try store.write(new, .test(8))

        #expect(disk.content[.reserve] == nil)
        #expect(disk.store().found.record == new)
        #expect(disk.temporaries.isEmpty)

        store.restoreReserve()
        #expect(disk.content[.reserve] != nil)
    }

    @Test func `a disk that stays full is tried twice`() {
        let disk = SimulatedDisk(live: sealed(old), [.reserve: [0]])
        var (store, _) = disk.store()
        disk.forgetOperations()
        disk.fail { _, operation in operation.verb == "create" ? ENOSPC : nil }

        #expect(throws: StoreFailure.self) { try store.write(new, .test(8)) }

        #expect(disk.operations.filter { $0.verb == "create" }.count == 2)
        #expect(disk.store().found.record == old)
    }

    @Test func `the reserve is created once`() {
        let disk = SimulatedDisk()
        var (store, _) = disk.store()

        store.restoreReserve()
        disk.forgetOperations()
        store.restoreReserve()

        #expect(disk.operations.isEmpty)
        #expect(disk.content[.reserve] != nil)
    }

    // Writes that are refused.

    @Test func `without a key only a tombstone can be written`() throws {
        let disk = SimulatedDisk(live: sealed(old))
        var (store, _) = disk.store(.keyless)

        let failure = #expect(throws: StoreFailure.self) { try store.write(new, .test(8)) }
        #expect(try #require(failure).message.contains("Bring the key"))

        try store.write(.test(8, .signedOut), SessionSecrets())
        #expect(disk.store().found.record == .test(8, .signedOut))
    }

    @Test func `writing over a newer record stops the process`() async {
        await #expect(processExitsWith: .failure) {
            var (store, _) = SimulatedDisk(live: sealed(.test(7, edition: 1))).store()
            try store.write(.test(7, edition: 1), .test(7))
        }
    }

    // Records that could not be verified.

    @Test func `a sign-in keeps the locked record that it replaces`() throws {
        let locked = sealed(old, key: .test(2))
        let lockedTemporary = sealed(.test(6), key: .test(2))
        let disk = SimulatedDisk(live: locked, [.temporary: lockedTemporary])
        var (store, _) = disk.store()

        try store.write(new, .test(8))

        #expect(Set(disk.inQuarantine.values) == [locked, lockedTemporary])
        #expect(disk.temporaries.isEmpty)
        #expect(disk.store().found.record == new)
    }

    @Test func `a sign-in keeps the damaged record that it replaces and ends the report`() throws {
        let altered = sealed(old).altered()
        let disk = SimulatedDisk(live: altered)
        var (store, _) = disk.store()

        try store.write(new, .test(8))

        let (_, found) = disk.store()
        #expect(Array(disk.inQuarantine.values) == [altered])
        #expect(found.record == new)
        #expect(found.damaged == nil)
    }

    @Test func `the report of damage stays after a renewal and ends with a sign-in`() throws {
        let disk = SimulatedDisk(live: sealed(.test(9)).altered(), [.temporary: sealed(old)])
        var (store, found) = disk.store()
        #expect(found.damaged != nil)

        try store.write(.test(10), .test(10), unopened: .unchanged)
        (store, found) = disk.store()
        #expect(found.damaged != nil)

        // Also a sign-in of the same user.
        try store.write(.test(11), .test(11), unopened: .acknowledged)
        (store, found) = disk.store()
        #expect(found.damaged == nil)

        try store.write(.test(12), .test(12), unopened: .unchanged)
        #expect(disk.store().found.damaged == nil)
        #expect(disk.inQuarantine.count == 1)
    }

    /// A sign-in beside a record that cannot be opened is withdrawn: while it is written, or after the disk refused it.
    @Test(arguments: [false, true])
    func `the withdrawal of a sign-in erases no record, and reports a damaged one again`(isRefused: Bool) throws {
        let altered = sealed(old).altered()
        let disk = SimulatedDisk(live: altered)
        var (store, _) = disk.store()
        if isRefused {
            disk.fail { _, operation in operation.verb == "rename" ? EIO : nil }
            #expect(throws: StoreFailure.self) { try store.write(new, .test(8)) }
            disk.fail(nil)
        } else {
            try store.write(new, .test(8))
        }

        try store.write(.test(9, .signedOut), SessionSecrets(), unopened: .reportedAgain)

        #expect(Array(disk.inQuarantine.values) == [altered])
        let (_, found) = disk.store()
        #expect(found.record?.content == .signedOut && found.damaged != nil)

        try store.write(.test(10, .signedOut), SessionSecrets(), unopened: .erased)
        #expect(disk.inQuarantine.isEmpty)
    }

    @Test func `a sign-out removes all records of all users`() throws {
        let quarantined = StateFile("generation-3.0-00000000", in: .quarantine)
        let disk = SimulatedDisk(
            live: sealed(old, key: .test(2)),
            [.temporary: sealed(.test(6), key: .test(2)), quarantined: sealed(.test(3)).altered()]
        )
        var (store, _) = disk.store()

        try store.write(.test(8, .signedOut), SessionSecrets())

        #expect(Set(disk.content.keys) == [.record, .installation])
        #expect(disk.store().found.record == .test(8, .signedOut))
    }
}
