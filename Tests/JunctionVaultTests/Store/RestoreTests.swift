import Glibc
import JunctionSession
import Testing

@testable import JunctionVault

@Suite struct RestoreTests {
    private let session = SessionRecord.test(7, edition: 2)

    // Absent and valid records.

    @Test func `an empty directory means that no session is stored`() {
        let disk = SimulatedDisk()

        #expect(disk.store().found.isAbsent)
        #expect(disk.content.isEmpty)
    }

    @Test func `a valid record is restored with its secrets, and nothing is written`() {
        let disk = SimulatedDisk(live: sealed(session))

        let (_, found) = disk.store()

        #expect(found.record == session)
        #expect(found.secrets?.texts == ["access-7", "refresh-7", "key-7"])
        #expect(found.damaged == nil)
        #expect(disk.operations.allSatisfy { $0.verb == "read" || $0.verb == "list" })
    }

    @Test func `a tombstone of another key is restored, and may hold sign-ins that were not read`() {
        var tombstone = SessionRecord.test(8, .signedOut)
        let disk = SimulatedDisk(live: sealed(tombstone, key: .test(2)))

        tombstone.mayHoldUnreadSignIns = true
        #expect(disk.store().found.record == tombstone)
    }

    // Temporary files.

    @Test func `a single temporary file becomes the record`() {
        let disk = SimulatedDisk(live: nil, [.temporary: sealed(session)])

        let (_, found) = disk.store()

        #expect(found.record == session)
        #expect(disk.content[.record] == sealedContent(disk.content[.record], is: session))
        #expect(disk.temporaries.isEmpty)
    }

    @Test func `a newer temporary file is rewritten as the record before anything else`() {
        let newer = sealed(.test(7, edition: 3))
        let disk = SimulatedDisk(live: sealed(session), [.temporary: newer])

        let (_, found) = disk.store()

        #expect(found.record?.edition == 3)
        #expect(found.damaged == nil)
        #expect(disk.content[.record] == newer)
        let changes = disk.operations.filter { !["read", "list"].contains($0.verb) }
        #expect(changes.map(\.verb) == ["create", "write", "write", "sync", "close", "rename", "sync", "remove"])
        #expect(changes.last?.subject == StateFile.temporary.name)
    }

    @Test func `an older temporary file is removed`() {
        let disk = SimulatedDisk(live: sealed(session), [.temporary: sealed(.test(7, edition: 1))])

        #expect(disk.store().found.record == session)
        #expect(disk.temporaries.isEmpty)
        #expect(disk.inQuarantine.isEmpty)
    }

    @Test func `of two temporary files the newer one wins`() {
        let disk = SimulatedDisk(
            live: sealed(session),
            [.temporary: sealed(.test(9)), .secondTemporary: sealed(.test(8))]
        )

        #expect(disk.store().found.record?.generation == 9)
        #expect(disk.temporaries.isEmpty)
    }

    @Test(arguments: [0, 1, 16, 17, 100])
    func `a temporary file that ends before its sealed part is removed`(length: Int) {
        let torn = Array(sealed(.test(8)).prefix(length))
        let disk = SimulatedDisk(live: sealed(session), [.temporary: torn])

        let (_, found) = disk.store()

        #expect(found.record == session)
        #expect(found.damaged == nil)
        #expect(disk.temporaries.isEmpty && disk.inQuarantine.isEmpty)
    }

    @Test func `a temporary file torn within its sealed part goes to quarantine and is reported`() throws {
        let torn = Array(sealed(.test(8)).dropLast())
        let disk = SimulatedDisk(live: sealed(session), [.temporary: torn])

        let (_, found) = disk.store()

        #expect(found.record == session)
        #expect(try #require(found.damaged).contains("generation 8"))
        #expect(Array(disk.inQuarantine.values) == [torn])
        #expect(disk.temporaries.isEmpty)
    }

    @Test func `a directory or a link with the name of a temporary file is ignored`() {
        let disk = SimulatedDisk(live: sealed(session), [.temporary: []])
        disk.fail { _, operation in operation.subject == StateFile.temporary.path ? ELOOP : nil }

        #expect(disk.store().found.record == session)
    }

    // A record file that is damaged.

    @Test(arguments: [0, 1, 40, 200])
    func `a valid temporary file replaces a record file that a power cut has torn`(length: Int) {
        let disk = SimulatedDisk(live: Array(sealed(session).prefix(length)), [.temporary: sealed(.test(8))])

        let (_, found) = disk.store()

        #expect(found.record?.generation == 8)
        #expect(found.damaged == nil)
        #expect(disk.inQuarantine.isEmpty)
    }

    @Test func `an older valid temporary file wins over an altered record, which is kept and reported`() throws {
        let altered = sealed(session).altered()
        let disk = SimulatedDisk(live: altered, [.temporary: sealed(.test(6))])

        let (_, found) = disk.store()

        #expect(found.record?.generation == 6)
        #expect(try #require(found.damaged).contains("quarantine/generation-7.2-"))
        #expect(Array(disk.inQuarantine.values) == [altered])
    }

    @Test(arguments: [true, false])
    func `a single altered record is damaged and stays in place`(legible: Bool) throws {
        let altered = legible ? sealed(session).altered() : sealed(session).altered(at: 20)
        let disk = SimulatedDisk(live: altered)

        let found = try #require(disk.store().found.unreadable)

        #expect(found.status == .damaged)
        #expect(found.remedy.contains("Sign in again. A backup of the file does not help"), "\(found.remedy)")
        #expect(found.canSignIn)
        #expect(found.header?.generation == (legible ? 7 : nil))
        #expect(found.header?.userId == (legible ? "u-1" : nil))
        #expect(found.header?.state == (legible ? .established : nil))
        #expect(disk.content[.record] == altered)
    }

    @Test func `a single empty record file is damaged`() throws {
        let found = try #require(SimulatedDisk(live: []).store().found.unreadable)

        #expect(found.status == .damaged)
        #expect(found.header == nil)
        #expect(found.canSignIn)
    }

    @Test func `a torn first sign-in is damaged and stays until the next sign-in`() throws {
        let torn = Array(sealed(session).dropLast())
        let disk = SimulatedDisk(live: nil, [.temporary: torn])

        #expect(try #require(disk.store().found.unreadable).status == .damaged)
        #expect(disk.content[.temporary] == torn)
    }

    @Test func `the report of damage survives restarts`() throws {
        let disk = SimulatedDisk(live: sealed(session).altered(), [.temporary: sealed(.test(6))])

        let first = disk.store().found
        let second = disk.store().found

        #expect(first.damaged != nil)
        #expect(second.damaged == first.damaged)
    }

    @Test func `a quarantined record is reported as damaged even without other files`() throws {
        let file = StateFile("generation-7.2-00000000", in: .quarantine)
        let disk = SimulatedDisk(live: nil, [file: sealed(session).altered()])

        let found = try #require(disk.store().found.unreadable)

        #expect(found.status == .damaged)
        #expect(found.header?.generation == 7)
    }

    // Locked records.

    @Test func `a record of another key is locked, and no file changes`() throws {
        let files: [StateFile: [UInt8]] = [
            .record: sealed(session, key: .test(2)), .temporary: sealed(.test(8), key: .test(2)),
        ]
        let disk = SimulatedDisk(live: files[.record], files)

        let found = try #require(disk.store().found.unreadable)

        #expect(found.status == .locked)
        #expect(found.canSignIn)
        #expect(found.header?.generation == 8)
        #expect(found.remedy.contains(SealingKey.test(2).id) && found.remedy.contains(SealingKey.test().id))
        #expect(disk.content.filter { $0.key != .installation } == files)
    }

    @Test func `without a key a record is locked, no file changes and no user can sign in`() throws {
        let bytes = sealed(session)
        let disk = SimulatedDisk(live: bytes, [.temporary: bytes.altered()])

        let found = try #require(disk.store(.keyless).found.unreadable)

        #expect(found.status == .locked)
        #expect(!found.canSignIn)
        #expect(found.header?.userId == "u-1")
        #expect(found.remedy.contains("Bring the key"))
        #expect(disk.content.count == 3)
    }

    @Test func `without a key an empty directory is locked, because no sign-in could be sealed`() throws {
        let found = try #require(SimulatedDisk().store(.keyless).found.unreadable)

        #expect(found == .init(status: .locked, remedy: "Bring the key.", header: nil, canSignIn: false))
    }

    @Test(arguments: [SealingKey.test(), nil])
    func `without a key a tombstone is locked storage without a signed-in user`(writer: SealingKey?) throws {
        let disk = SimulatedDisk(live: sealed(.test(8, .signedOut), key: writer))

        let found = try #require(disk.store(.keyless).found.unreadable)

        #expect(found.status == .locked)
        #expect(found.header?.state == .notLoggedIn)
    }

    @Test func `without a key a tombstone wins over the older session`() throws {
        let disk = SimulatedDisk(live: sealed(session), [.temporary: sealed(.test(8, .signedOut), key: nil)])

        let found = try #require(disk.store(.keyless).found.unreadable)

        #expect(found.header?.state == .notLoggedIn)
    }

    @Test func `a session is restored when its key is back`() {
        let disk = SimulatedDisk(live: sealed(session))

        #expect(disk.store(.keyless).found.unreadable != nil)
        #expect(disk.store(.key(.test(2))).found.unreadable != nil)
        #expect(disk.store().found.record == session)
    }

    @Test func `a newer locked record is not replaced by an older valid one`() throws {
        let disk = SimulatedDisk(live: sealed(session, key: .test(2)), [.temporary: sealed(.test(6))])

        #expect(try #require(disk.store().found.unreadable).status == .locked)
        #expect(disk.temporaries == [.temporary])
    }

    @Test func `an interrupted sign-in over a locked record is completed, and the locked record is kept`() {
        let locked = sealed(session, key: .test(2))
        let disk = SimulatedDisk(live: locked, [.temporary: sealed(.test(8))])

        let (_, found) = disk.store()

        #expect(found.record?.generation == 8)
        #expect(found.damaged == nil)
        #expect(Array(disk.inQuarantine.values) == [locked])
    }

    // Installations.

    @Test func `a cloned disk is locked with the reason`() throws {
        let disk = SimulatedDisk(live: sealed(session, by: otherInstallation))

        let found = try #require(disk.store().found.unreadable)

        #expect(found.status == .locked)
        #expect(found.canSignIn)
        #expect(found.remedy.contains("copy of another machine") && found.remedy.contains(otherInstallation))
    }

    @Test func `an image without its installation id is locked`() throws {
        let disk = SimulatedDisk([.record: sealed(session)])

        #expect(try #require(disk.store().found.unreadable).status == .locked)
        #expect(disk.content[.installation] == nil)
    }

    @Test(arguments: ["", "x", thisInstallation.uppercased(), thisInstallation + "0"])
    func `a damaged installation id does not lose the session`(text: String) {
        let disk = SimulatedDisk(live: sealed(session), [.installation: Array(text.utf8)])

        let (store, found) = disk.store()

        #expect(found.record == session)
        #expect(store.installation?.text == thisInstallation)
    }

    // Unavailable storage.

    @Test func `a record of a newer junctiond prevents every change`() throws {
        let newer = framed(version: 3, header: "{}")
        for files: [StateFile: [UInt8]] in [[.record: newer], [.record: sealed(session), .temporary: newer]] {
            let disk = SimulatedDisk(live: files[.record], files)
            var (store, found) = disk.store()

            let unreadable = try #require(found.unreadable)
            #expect(unreadable.status == .unavailable)
            #expect(!unreadable.canSignIn)
            #expect(unreadable.remedy.contains("newer junctiond"))
            #expect(throws: StoreFailure.self) { try store.write(.test(9, .signedOut), .test(9)) }
            #expect(disk.content.filter { $0.key != .installation } == files)
        }
    }

    @Test(arguments: [
        ("list", "."), ("read", "session.sealed"), ("read", "installation-id"), ("read", "session.sealed.tmp-a"),
    ])
    func `a disk that cannot be read makes the storage unavailable, with a remedy`(verb: String, subject: String) throws
    {
        let disk = SimulatedDisk(live: sealed(session), [.temporary: sealed(.test(8))])
        disk.fail { _, operation in operation.verb == verb && operation.subject == subject ? EIO : nil }

        var (store, restoration) = disk.store()
        let found = try #require(restoration.unreadable)

        #expect(found.status == .unavailable)
        #expect(!found.canSignIn)
        #expect(found.remedy.contains("Input/output error. The disk reports errors"))
        #expect(throws: StoreFailure(found.remedy)) { try store.write(.test(9, .signedOut), .test(9)) }
        #expect(disk.content.count == 3)
    }

    @Test func `a read-only disk restores the session`() throws {
        let disk = SimulatedDisk(live: sealed(session), [.temporary: sealed(.test(8))])
        disk.fail { _, operation in ["list", "read"].contains(operation.verb) ? nil : EROFS }

        var (store, found) = disk.store()

        #expect(found.record?.generation == 8)

        // When the disk can be written again, the winner is put in place before anything else.
        disk.fail(nil)
        disk.forgetOperations()
        try store.write(.test(9), .test(9))
        let verbs = disk.operations.map(\.verb).filter { ["create", "rename", "remove"].contains($0) }
        #expect(verbs == ["create", "rename", "remove", "create", "remove", "rename"])
        #expect(disk.store().found.record == .test(9))
        #expect(disk.temporaries.isEmpty)
    }

    // Leftovers of other files.

    @Test func `temporary files of other files are removed at the start`() {
        let small = [StateFile.installation, .usedCredentials, .sequences, .key]
        let leftovers = small.flatMap { file in ["a", "b"].map { file.temporary(tag: $0) } }
        let disk = SimulatedDisk(live: sealed(session), Dictionary(uniqueKeysWithValues: leftovers.map { ($0, [1]) }))

        #expect(disk.store().found.record == session)

        #expect(Set(disk.content.keys) == [.record, .installation])
    }

    @Test func `temporary files beside a record of a newer junctiond stay`() {
        let leftover = StateFile.sequences.temporary(tag: "a")
        let disk = SimulatedDisk(live: framed(version: 9, header: header()), [leftover: [1]])

        #expect(disk.store().found.unreadable?.status == .unavailable)

        #expect(disk.content[leftover] == [1])
    }

    // Migration.

    @Test func `a record of the first format is read, and rewritten in the present format`() throws {
        let disk = SimulatedDisk(live: .firstFormat)
        var (store, found) = disk.store()
        let record = try #require(found.record)
        #expect(record.generation == 4)

        var next = record
        next.edition += 1
        try store.write(next, try #require(found.secrets))

        let live = try #require(disk.content[.record])
        #expect(live[RecordFrame.magic.count] == 2)
        let (_, again) = disk.store()
        #expect(again.record == next)
        #expect(again.secrets?.texts == ["access-4", "refresh-4", nil])
    }

    /// Returns `bytes` if they hold `record`. Sealing the same record again would give other bytes.
    private func sealedContent(_ bytes: [UInt8]?, is record: SessionRecord) -> [UInt8]? {
        SimulatedDisk(live: bytes).store().found.record == record ? bytes : nil
    }
}
