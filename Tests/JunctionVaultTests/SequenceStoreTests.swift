import Foundation
import JunctionSession
import JunctionTesting
import Testing

@testable import JunctionVault

/// The largest sequences of the installation, after disk failures and crashes.
struct SequenceStoreTests {
    private func claim(_ sequence: UInt64, _ subject: String = "app/anna", on page: inout SequencePage) -> UInt64? {
        do throws(SequenceSpent) {
            try page.claim(sequence, of: subject)
            return nil
        } catch {
            return error.last
        }
    }

    private func isNoted(_ fact: String, on page: inout SequencePage) -> Bool {
        page.isNoted(fact)
    }

    @Test func `a used sequence stays used after a restart`() {
        let disk = SimulatedDisk()
        var page = SequencePage(disk)
        #expect(claim(41, on: &page) == nil)

        var restarted = SequencePage(disk.afterKill())

        #expect(claim(41, on: &restarted) == 41)
        #expect(claim(42, on: &restarted) == nil)
    }

    @Test func `a power cut during a claim leaves the old list or the new one`() {
        for stop in 0... {
            let disk = SimulatedDisk()
            var page = SequencePage(disk)
            #expect(claim(1, on: &page) == nil)
            let before = disk.operations.count
            disk.stop(after: stop)
            #expect(claim(2, on: &page) == nil)
            let isWritten = disk.operations.count < before + stop

            for survivor in disk.afterPowerCut() + [disk.afterKill()] {
                var restarted = SequencePage(survivor)
                let last = claim(1, on: &restarted)
                #expect(last == 2 || last == 1 && !isWritten, "after \(stop): \(disk.operations)")
            }
            if isWritten { break }
        }
    }

    @Test func `a claim succeeds although the write fails, and the next claim writes both`() {
        let disk = SimulatedDisk()
        var page = SequencePage(disk)
        disk.fail { _, operation in operation.verb == "write" ? ENOSPC : nil }
        #expect(claim(1, on: &page) == nil)
        #expect(claim(1, on: &page) == 1)

        disk.fail(nil)
        #expect(claim(7, "app/bert", on: &page) == nil)

        var restarted = SequencePage(disk.afterKill())
        #expect(claim(1, on: &restarted) == 1)
    }

    @Test func `a released sequence is released on disk`() {
        let disk = SimulatedDisk()
        var page = SequencePage(disk)
        #expect(claim(1, on: &page) == nil)
        page.release(1, of: "app/anna")

        var restarted = SequencePage(disk.afterKill())

        #expect(claim(1, on: &restarted) == nil)
    }

    @Test(arguments: ["write", "sync", "close", "rename"])
    func `a claim whose write fails leaves no temporary file`(verb: String) {
        let disk = SimulatedDisk()
        var page = SequencePage(disk)
        #expect(claim(1, on: &page) == nil)
        disk.fail { _, operation in operation.verb == verb ? EIO : nil }

        for sequence in 2..<9 as Range<UInt64> { #expect(claim(sequence, on: &page) == nil) }

        #expect(Set(disk.content.keys) == [.sequences])
    }

    private static let name = String(repeating: "0f", count: 16)

    @Test(arguments: [
        "", "{", "[]", "null", #"{"format":1}"#, #"{"format":2,"sequences":[]}"#, #"{"format":1,"sequences":{}}"#,
        #"{"format":1,"sequences":[7]}"#, #"{"format":1,"sequences":[{"subject":"anna","last":1}]}"#,
        #"{"format":1,"sequences":[{"subject":"\#(name)"}]}"#,
        #"{"format":1,"sequences":[{"subject":"\#(name)","last":-1}]}"#,
        #"{"format":1,"sequences":[{"subject":"\#(name)","last":18446744073709551616}]}"#,
        #"{"format":1,"sequences":[{"subject":"\#(name)","last":1},{"subject":"\#(name)","last":2}]}"#,
        #"{"format":1,"sequences":[],"fact":"secure"}"#, #"{"format":1,"sequences":[],"fact":null}"#,
        String(repeating: " ", count: 1 << 15) + #"{"format":1,"sequences":[]}"#, "\0\0\0\0",
    ])
    func `an invalid file counts as empty and is replaced`(text: String) {
        #expect(SequenceList(decoding: Array(text.utf8)) == nil)
        let disk = SimulatedDisk([.sequences: Array(text.utf8)])
        var page = SequencePage(disk)
        #expect(claim(1, on: &page) == nil)

        var restarted = SequencePage(disk.afterKill())
        #expect(claim(1, on: &restarted) == 1)
    }

    @Test func `an unreadable file counts as empty`() {
        let disk = SimulatedDisk()
        disk.fail { _, operation in operation.verb == "read" ? EIO : nil }
        var page = SequencePage(disk)
        #expect(claim(1, on: &page) == nil)
        #expect(claim(1, on: &page) == 1)
    }

    @Test func `the largest list can be read back`() throws {
        let disk = SimulatedDisk()
        var page = SequencePage(disk)
        for number in 0..<100 { #expect(claim(.max, "app/user-\(number)", on: &page) == nil) }
        let bytes = try #require(disk.content[.sequences])
        #expect(bytes.count < SequenceList.longestText)
        #expect(SequenceList(decoding: bytes)?.entries.count == SequenceList.capacity)
    }

    @Test func `the file does not name the user`() throws {
        let disk = SimulatedDisk()
        var page = SequencePage(disk)
        #expect(claim(41, on: &page) == nil)
        let text = String(decoding: try #require(disk.content[.sequences]), as: UTF8.self)
        #expect(!text.contains("anna"))
        #expect(text.contains(#""last":41}"#))
    }

    @Test func `a noted fact survives a restart and a claim, until another or none takes its place`() {
        let disk = SimulatedDisk()
        var page = SequencePage(disk)
        page.note("a network")
        #expect(claim(1, on: &page) == nil)

        var restarted = SequencePage(disk.afterKill())
        #expect(isNoted("a network", on: &restarted))
        #expect(!isNoted("another network", on: &restarted))
        #expect(claim(1, on: &restarted) == 1)

        restarted.note("another network")
        #expect(isNoted("another network", on: &restarted) && !isNoted("a network", on: &restarted))
        restarted.note(nil)
        #expect(!isNoted("another network", on: &restarted))
    }

    @Test func `a removed fact does not come back with a restart`() {
        let disk = SimulatedDisk()
        var page = SequencePage(disk)
        page.note("a network")
        page.note(nil)

        var restarted = SequencePage(disk.afterKill())

        #expect(!isNoted("a network", on: &restarted))
    }

    @Test func `the same fact is written once, and again after a failed write`() {
        let disk = SimulatedDisk()
        var page = SequencePage(disk)
        disk.fail { _, operation in operation.verb == "write" ? ENOSPC : nil }
        page.note("a network")
        #expect(isNoted("a network", on: &page))

        disk.fail(nil)
        page.note("a network")
        let written = disk.operations.count
        page.note("a network")

        #expect(disk.operations.count == written)
        var restarted = SequencePage(disk.afterKill())
        #expect(isNoted("a network", on: &restarted))
    }

    @Test func `a file without a fact is as that of an earlier release`() throws {
        let earlier = #"{"format":1,"sequences":[{"subject":"\#(Self.name)","last":7}]}"# + "\n"

        let list = try #require(SequenceList(decoding: Array(earlier.utf8)))

        #expect(list.fact == nil)
        #expect(String(decoding: list.encoded(), as: UTF8.self) == earlier)
    }

    @Test func `the vault keeps the list private beside the record, and a sign-out keeps it`() async throws {
        let temporary = TemporaryFolder()
        func open() throws -> Vault {
            let directory = try temporary.opened()
            return Vault(directory, try InstanceLock(directory), .key(.test()))
        }
        try await {
            let vault = try open()
            _ = vault.restore()
            try await vault.sequences.claim(41, of: "app/anna")
            try await vault.write(.test(1), .test(1))
            try await vault.write(.test(2, .signedOut), SessionSecrets())
            _ = await vault.inspect()
        }()

        #expect(temporary.names == ["installation-id", "lock", "reserve", "sequences", "session.sealed"])
        #expect(try temporary.mode("sequences") == 0o600)
        let vault = try reopened { try open() }
        await #expect(throws: SequenceSpent(last: 41)) { try await vault.sequences.claim(41, of: "app/anna") }
    }

    @Test func `the inspection notes a damaged list, and neither a valid nor a missing one`() async throws {
        let temporary = TemporaryFolder()
        let directory = try temporary.opened()
        let vault = Vault(directory, try InstanceLock(directory), .key(.test()))
        #expect(await !vault.inspect().contains { $0.name == "sequences" })
        try await vault.sequences.claim(41, of: "app/anna")
        #expect(await !vault.inspect().contains { $0.name == "sequences" })

        try temporary.write(Array("{".utf8), to: "sequences")

        let finding = try #require(await vault.inspect().first { $0.name == "sequences" })
        #expect(finding.verdict == .note)
        #expect(finding.detail.hasSuffix("it counts as empty, and the next entry replaces it."))
    }

    @Test func `of concurrent claims of one sequence one succeeds`() async throws {
        let temporary = TemporaryFolder()
        let directory = try temporary.opened()
        let vault = Vault(directory, try InstanceLock(directory), .key(.test()))
        let granted = await withTaskGroup(of: Bool.self) { group in
            for _ in 0..<8 {
                group.addTask { (try? await vault.sequences.claim(1, of: "app/anna")) != nil }
            }
            return await group.reduce(into: 0) { $0 += $1 ? 1 : 0 }
        }
        #expect(granted == 1)
    }
}
