import Glibc
import JunctionSession
import Testing

@testable import JunctionVault

/// A disk that accepts writes and fails to sync them. Complete content then survives the end of the process, but not a
/// power cut.
@Suite struct RefusedSyncTests {
    private let old = SessionRecord.test(7)

    private func breakDown(_ disk: SimulatedDisk, only file: StateFile? = nil) {
        disk.fail { _, operation in
            let isMeant = file.map { $0.hasTemporary(named: operation.subject) } ?? true
            return operation.verb == "sync" && isMeant ? EIO : nil
        }
    }

    private func temporaries(of file: StateFile, on disk: SimulatedDisk) -> Int {
        disk.content.keys.count { file.hasTemporary(named: $0.name) }
    }

    @Test func `the next start finds the newest record whose sync failed`() {
        let disk = SimulatedDisk(live: sealed(old))
        var (store, _) = disk.store()
        breakDown(disk)
        for generation in 8...10 as ClosedRange<UInt64> {
            #expect(throws: StoreFailure.self) { try store.write(.test(generation), .test(generation)) }
        }

        #expect(temporaries(of: .record, on: disk) == 1)
        let (_, found) = disk.afterKill().store()
        #expect(found.record == .test(10))
        #expect(found.secrets?.texts == SessionSecrets.test(10).texts)
    }

    @Test func `a record that cannot be created leaves the one before it`() {
        let disk = SimulatedDisk(live: sealed(old))
        var (store, _) = disk.store()
        breakDown(disk)
        #expect(throws: StoreFailure.self) { try store.write(.test(8), .test(8)) }
        disk.fail { _, operation in operation.verb == "write" ? ENOSPC : nil }
        #expect(throws: StoreFailure.self) { try store.write(.test(9), .test(9)) }

        #expect(disk.afterKill().store().found.record == .test(8))
    }

    @Test func `a synced record that was not renamed stays until a newer one is synced`() {
        let disk = SimulatedDisk(live: sealed(old))
        var (store, _) = disk.store()
        disk.fail { _, operation in operation.verb == "rename" ? EIO : nil }
        #expect(throws: StoreFailure.self) { try store.write(.test(8), .test(8)) }
        disk.fail(nil)
        try? disk.sync(.stateDirectory)
        breakDown(disk)
        #expect(throws: StoreFailure.self) { try store.write(.test(9), .test(9)) }

        #expect(temporaries(of: .record, on: disk) == 2)
        #expect(disk.afterKill().store().found.record == .test(9))
        for survivor in disk.afterPowerCut() {
            let generation = survivor.store().found.record?.generation
            #expect(generation == 8 || generation == 9)
        }
    }

    @Test func `a record whose sync failed is written to a new file at the next start`() {
        let disk = SimulatedDisk(live: sealed(old))
        var (store, _) = disk.store()
        breakDown(disk)
        #expect(throws: StoreFailure.self) { try store.write(.test(8), .test(8)) }

        let restarted = disk.afterKill()
        (store, _) = restarted.store()

        #expect(store.unfinished.isEmpty)
        #expect(restarted.temporaries.isEmpty)
        for survivor in restarted.afterPowerCut() { #expect(survivor.store().found.record == .test(8)) }
    }

    @Test func `restarts on a disk that fails to sync leave one temporary file with the newest record`() {
        var disk = SimulatedDisk(live: sealed(old))
        for generation in 8..<20 as Range<UInt64> {
            breakDown(disk)
            var (store, found) = disk.store()
            #expect(found.record == .test(generation - 1))
            #expect(store.unfinished.isEmpty == (generation == 8))
            #expect(throws: StoreFailure.self) { try store.write(.test(generation), .test(generation)) }
            #expect(temporaries(of: .record, on: disk) == 1)
            disk = disk.afterKill()
        }

        var (store, found) = disk.store()
        #expect(found.record == .test(19))
        #expect(disk.temporaries.isEmpty)
        #expect(throws: Never.self) { try store.write(.test(20), .test(20)) }
    }

    @Test func `a first sign-in whose sync failed survives a restart with its installation id`() {
        var disk = SimulatedDisk()
        var installation: String?
        for _ in 0..<5 {
            breakDown(disk)
            var (store, found) = disk.store()
            #expect(installation == nil ? found.isAbsent : found.record == old)
            if installation == nil {
                for _ in 0..<3 { #expect(throws: StoreFailure.self) { try store.write(old, .test(7)) } }
            }
            installation = installation ?? store.installation?.text
            #expect(store.installation?.text == installation)
            #expect(temporaries(of: .installation, on: disk) == 1)
            #expect(temporaries(of: .record, on: disk) == 1)
            disk = disk.afterKill()
        }

        let (store, found) = disk.store()
        #expect(found.record == old)
        #expect(store.installation?.text == installation)
        #expect(Set(disk.content.keys) == [.installation, .record])
        for survivor in disk.afterPowerCut() { #expect(survivor.store().found.record == old) }
    }

    @Test func `if the installation id cannot be stored, the record is written and not durable`() throws {
        let disk = SimulatedDisk()
        var (store, _) = disk.store()
        breakDown(disk, only: .installation)

        for _ in 0..<3 { #expect(throws: StoreFailure.self) { try store.write(old, .test(7)) } }

        #expect(disk.content[.record] != nil)
        #expect(temporaries(of: .installation, on: disk) == 1)
        #expect(disk.afterKill().store().found.record == old)
        disk.fail(nil)
        try store.write(old, .test(7))
        #expect(Set(disk.content.keys) == [.installation, .record])
        for survivor in disk.afterPowerCut() { #expect(survivor.store().found.record == old) }
    }

    @Test func `a partly written installation id is ignored and removed`() {
        let disk = SimulatedDisk([
            StateFile.installation.temporary(tag: "a"): Array(thisInstallation.utf8.prefix(16)), .record: sealed(old),
        ])

        let (_, found) = disk.store()

        #expect(found.unreadable?.status == .locked)
        #expect(Set(disk.content.keys) == [.record])
    }

    @Test func `a sign-out whose sync failed is effective after a restart`() {
        let disk = SimulatedDisk(live: sealed(old))
        var (store, _) = disk.store()
        breakDown(disk)
        #expect(throws: StoreFailure.self) { try store.write(.test(8, .signedOut), SessionSecrets()) }

        #expect(disk.afterKill().store().found.record == .test(8, .signedOut))
    }

    @Test func `a list of used credentials whose sync failed is removed and written later`() {
        let disk = SimulatedDisk(live: sealed(old))
        var (store, _) = disk.store()
        breakDown(disk)
        let digest = String(repeating: "0", count: 64)
        for _ in 0..<3 { #expect(throws: FileFault.self) { try store.note(.done, of: digest) } }

        #expect(temporaries(of: .usedCredentials, on: disk) == 0)
        disk.fail(nil)
        #expect(throws: Never.self) { try store.write(.test(8), .test(8)) }
        #expect(disk.content[.usedCredentials] != nil)
    }
}
