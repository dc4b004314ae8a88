import Glibc
import JunctionSession
import Testing

@testable import JunctionVault

@Suite struct QuarantineTests {
    private let newcomer = StateFile("session.sealed.tmp-x")

    private func disk(_ names: String...) -> SimulatedDisk {
        var files: [StateFile: [UInt8]] = [newcomer: [1]]
        for name in names { files[StateFile(name, in: .quarantine)] = [0] }
        return SimulatedDisk(files)
    }

    private func names(after disk: SimulatedDisk, acknowledged: Set<String> = []) throws -> [String] {
        let quarantine = Quarantine(files: disk)
        try quarantine.take(newcomer, as: "generation-5.0-new", acknowledged: acknowledged)
        return try quarantine.names()
    }

    @Test func `two records fit into quarantine`() throws {
        #expect(try names(after: disk("generation-9.0-a")) == ["generation-5.0-new", "generation-9.0-a"])
    }

    @Test func `a third record replaces the one with the lowest generation number`() throws {
        let disk = disk("generation-9.0-a", "generation-10.0-b")

        #expect(try names(after: disk) == ["generation-10.0-b", "generation-5.0-new"])
    }

    @Test func `of one generation the lowest edition is replaced`() throws {
        let disk = disk("generation-9.2-a", "generation-9.10-b")

        #expect(try names(after: disk) == ["generation-5.0-new", "generation-9.10-b"])
    }

    @Test func `a record without a header is replaced before one with a header`() throws {
        let disk = disk("generation-1.0-a", "illegible-b")

        #expect(try names(after: disk) == ["generation-1.0-a", "generation-5.0-new"])
    }

    @Test func `a acknowledged record is replaced first`() throws {
        let disk = disk("generation-9.0-a", "illegible-b")

        #expect(try names(after: disk, acknowledged: ["generation-9.0-a"]) == ["generation-5.0-new", "illegible-b"])
    }

    @Test func `the same content is kept once`() throws {
        let disk = disk("generation-5.0-new", "generation-9.0-a")

        #expect(try names(after: disk) == ["generation-5.0-new", "generation-9.0-a"])
    }

    @Test func `a foreign file in quarantine is neither counted nor removed`() throws {
        let disk = disk("notes.txt", "generation-9.0-a")

        #expect(try names(after: disk) == ["generation-5.0-new", "generation-9.0-a"])
        #expect(disk.content[StateFile("notes.txt", in: .quarantine)] != nil)
    }

    @Test func `equal content has equal names, and different content has different names`() {
        let altered = Candidate.Finding.illegible

        #expect(Quarantine.name(of: [1], altered) == Quarantine.name(of: [1], altered))
        #expect(Quarantine.name(of: [1], altered) != Quarantine.name(of: [2], altered))
    }

    @Test func `a sign-out succeeds without a usable quarantine and leaves no user data`() throws {
        let disk = SimulatedDisk(
            live: sealed(.test(8)).altered(),
            [.temporary: sealed(.test(7)), StateFile("session.sealed.tmp-2"): sealed(.test(6)).altered()]
        )
        disk.fail { _, operation in operation.verb == "make" ? ENOTDIR : nil }
        var (store, found) = disk.store()
        #expect(found.record == .test(7))
        #expect(throws: StoreFailure.self) { try store.write(.test(9), .test(9)) }

        try store.write(.test(10, .signedOut), SessionSecrets())

        #expect(Set(disk.content.keys) == [.record, .installation])
        for survivor in disk.afterPowerCut() {
            #expect(survivor.store().found.record?.content == .signedOut)
        }
    }
}
