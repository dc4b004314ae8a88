import Foundation
import JunctionTesting
import Testing

@testable import JunctionVault

@Suite struct SealingKeyTests {
    private let temporary = TemporaryFolder()

    @Test func `the key file is created once and then read`() throws {
        let directory = try temporary.opened()

        let first = try SealingKey.file(in: directory)
        let second = try SealingKey.file(in: directory)

        #expect(first.id == second.id)
        #expect(first.origin == "file")
        #expect(temporary.read("junctiond.key")?.count == 32)
        #expect(try temporary.mode("junctiond.key") == 0o600)
        #expect(temporary.names == ["junctiond.key"])
    }

    @Test func `a key that cannot be created needs another start`() throws {
        let directory = try temporary.opened()
        try FileManager.default.removeItem(atPath: temporary.path)

        let refused = #expect(throws: VaultRefusal.self) { try SealingKey.file(in: directory) }
        #expect(refused?.message.hasSuffix("Check the directory and its file system. Then restart junctiond.") == true)
    }

    @Test func `two installations have two keys`() throws {
        let other = TemporaryFolder()

        #expect(try SealingKey.file(in: temporary.opened()).id != SealingKey.file(in: other.opened()).id)
    }

    @Test func `the partial key file of an interrupted start is removed`() throws {
        try temporary.write([1, 2, 3], to: "junctiond.key.tmp-1")

        let directory = try temporary.opened()
        var store = RecordStore(directory, .key(try SealingKey.file(in: directory)))
        #expect(store.restore().isAbsent)

        #expect(temporary.names == ["junctiond.key"])
    }

    @Test(arguments: [0o640, 0o604, 0o700, 0o666] as [mode_t])
    func `a key file that other users can access is refused with the remedy`(mode: mode_t) throws {
        try temporary.write([UInt8](repeating: 7, count: 32), to: "junctiond.key", mode: mode)

        let refusal = #expect(throws: VaultRefusal.self) { try SealingKey.file(in: temporary.opened()) }

        #expect(try #require(refusal).message.contains("chmod 600 \(temporary.path)/junctiond.key"))
    }

    @Test(.enabled(if: geteuid() == 0, "Only root can give a file away"))
    func `a key file of another user is refused`() throws {
        try temporary.write([UInt8](repeating: 7, count: 32), to: "junctiond.key")
        chown("\(temporary.path)/junctiond.key", 12_345, 12_345)

        let refusal = #expect(throws: VaultRefusal.self) { try SealingKey.file(in: temporary.opened()) }

        #expect(try #require(refusal).message.contains("belongs to user 12345"))
    }

    @Test(arguments: [0, 31, 33])
    func `a key of the wrong length is refused and stays`(length: Int) throws {
        let bytes = [UInt8](repeating: 7, count: length)
        try temporary.write(bytes, to: "junctiond.key")

        let refusal = #expect(throws: VaultRefusal.self) { try SealingKey.file(in: temporary.opened()) }

        #expect(try #require(refusal).message.contains("has \(length) bytes instead of 32"))
        #expect(temporary.read("junctiond.key") == bytes)
    }

    @Test func `a link in place of the key file is refused`() throws {
        try temporary.write([UInt8](repeating: 7, count: 32), to: "elsewhere")
        symlink("\(temporary.path)/elsewhere", "\(temporary.path)/junctiond.key")

        #expect(throws: VaultRefusal.self) { try SealingKey.file(in: temporary.opened()) }
    }

    @Test func `a key is read from the service manager's credential`() throws {
        try temporary.write([UInt8](repeating: 7, count: 32), to: "credential", mode: 0o440)

        let key = try SealingKey.credential(at: "\(temporary.path)/credential", origin: "host+tpm2")

        #expect(try #require(key).origin == "host+tpm2")
        #expect(key?.id == SealingKey.test(7).id)
    }

    @Test func `a missing credential gives no key and no error`() throws {
        #expect(try SealingKey.credential(at: "\(temporary.path)/credential", origin: "host") == nil)
    }

    @Test func `a world-readable credential is refused`() throws {
        try temporary.write([UInt8](repeating: 7, count: 32), to: "credential", mode: 0o444)

        #expect(throws: VaultRefusal.self) {
            try SealingKey.credential(at: "\(temporary.path)/credential", origin: "host")
        }
    }

    @Test func `a key's id is short and stable and does not reveal the key`() {
        let key = SealingKey.test(7)

        #expect(key.id == SealingKey.test(7, origin: "host").id)
        #expect(key.id != SealingKey.test(8).id)
        #expect(key.id.utf8.count == 16)
        #expect(!key.id.contains("0707"))
    }
}
