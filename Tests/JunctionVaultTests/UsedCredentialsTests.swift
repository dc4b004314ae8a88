import Glibc
import JunctionSecret
import JunctionSession
import Synchronization
import Testing

@testable import JunctionVault

/// Which bootstrap credentials have been used up.
@Suite struct UsedCredentialsTests {
    private func digest(_ text: String, at installation: String = thisInstallation) -> String {
        UsedCredentials.digest(of: SharedSecret(text: text), installation: installation)
    }

    @Test func `a digest tells credentials and installations apart, and says nothing of them`() {
        #expect(digest("token") == digest("token"))
        #expect(digest("token") != digest("other"))
        #expect(digest("token") != digest("token", at: otherInstallation))
        #expect(digest("token").utf8.count == 64)
    }

    @Test func `what was noted last is what is known`() {
        var used = UsedCredentials()
        #expect(used.stage(of: digest("token")) == nil)

        used.note(.begun, of: digest("token"))
        #expect(used.stage(of: digest("token")) == .begun)
        used.note(.done, of: digest("token"))
        used.note(.begun, of: digest("other"))

        let read = UsedCredentials(parsing: used.text)
        #expect(read == used)
        #expect(read.stage(of: digest("token")) == .done)
        #expect(read.stage(of: digest("other")) == .begun)
    }

    @Test func `the pause that the provider demands is stored with the credential`() {
        var used = UsedCredentials()
        used.note(.unspent(), of: digest("token"))
        used.note(.unspent(notBefore: WallTime(milliseconds: 1_795_219_200_000)), of: digest("other"))

        let read = UsedCredentials(parsing: used.text)
        #expect(read == used)
        #expect(read.stage(of: digest("other")) == .unspent(notBefore: WallTime(milliseconds: 1_795_219_200_000)))
    }

    @Test func `the file of used credentials does not grow with their number`() {
        var used = UsedCredentials()
        for number in 0..<1_000 { used.note(.done, of: digest("\(number)")) }

        #expect(used.text.count <= UsedCredentials.largestFile)
        #expect(used.stage(of: digest("999")) == .done)
    }

    @Test(arguments: [
        "", "\n\n", "done", "abc done\n", String(repeating: "a", count: 64) + " spent\n",
        String(repeating: "a", count: 64) + " unspent soon\n", String(repeating: "a", count: 64) + " done 1\n",
        "\0\u{FF}",
    ])
    func `lines that are not ours are passed over`(text: String) {
        #expect(UsedCredentials(parsing: Array(text.utf8)) == UsedCredentials())
    }

    // MARK: On disk

    @Test func `what is noted on a fresh device is known after a restart, under the same id`() throws {
        let disk = SimulatedDisk()
        var (store, _) = disk.store()
        let installation = try #require(store.installation?.text)

        try store.note(.done, of: digest("token", at: installation))

        for survivor in disk.afterPowerCut() {
            let next = survivor.store().store
            #expect(next.installation?.text == installation)
            #expect(try next.stage(of: digest("token", at: installation)) == .done)
        }
    }

    @Test func `a sign-out is not durable before everything is that was noted before it`() throws {
        let disk = SimulatedDisk(live: sealed(.test(7)))
        var (store, _) = disk.store()
        disk.fail { _, operation in operation.subject.contains("used-credentials.tmp") ? EIO : nil }
        #expect(throws: FileFault.self) { try store.note(.done, of: digest("token")) }
        #expect(try store.stage(of: digest("token")) == .done)

        // A session is as durable as ever.
        try store.write(.test(8), .test(8))
        #expect(throws: StoreFailure.self) { try store.write(.test(9, .signedOut), SessionSecrets()) }
        #expect(disk.store().found.record == .test(9, .signedOut))
        disk.fail(nil)
        try store.write(.test(9, edition: 1, .signedOut), SessionSecrets())

        #expect(try disk.store().store.stage(of: digest("token")) == .done)
    }

    @Test func `the reserve is there for a note, too`() throws {
        let disk = SimulatedDisk(live: sealed(.test(7)))
        var (store, _) = disk.store()
        store.restoreReserve()
        let isFull = Mutex(true)
        disk.fail { _, operation in
            isFull.withLock { isFull in
                if operation.verb == "remove", operation.subject == "reserve" { isFull = false }
                return operation.verb == "write" && isFull ? ENOSPC : nil
            }
        }

        try store.note(.done, of: digest("token"))

        #expect(try disk.store().store.stage(of: digest("token")) == .done)
    }

    @Test(arguments: [EIO, EACCES, EISDIR])
    func `notes that cannot be read are not taken for none, nor written over`(code: Int32) throws {
        let disk = SimulatedDisk(live: sealed(.test(7)))
        var (before, _) = disk.store()
        try before.note(.done, of: digest("token"))
        var (store, _) = disk.store()
        disk.fail { _, operation in
            operation.verb == "read" && operation.subject == "used-credentials" ? code : nil
        }

        #expect(throws: FileFault.self) { try store.stage(of: digest("token")) }
        #expect(throws: FileFault.self) { try store.stage(of: digest("other")) }
        #expect(throws: FileFault.self) { try store.note(.done, of: digest("other")) }
        #expect(throws: FileFault.self) { try store.note(.begun, of: digest("third")) }
        // What is known here is known.
        #expect(try store.stage(of: digest("other")) == .done)
        #expect(throws: FileFault.self) { try store.stage(of: digest("third")) }
        // A session is as durable as ever, and a sign-out is not, before the notes are.
        try store.write(.test(8), .test(8))
        #expect(throws: StoreFailure.self) { try store.write(.test(9, .signedOut), SessionSecrets()) }

        disk.fail(nil)
        #expect(try store.stage(of: digest("token")) == .done)
        try store.write(.test(9, edition: 1, .signedOut), SessionSecrets())
        for text in ["token", "other"] { #expect(try disk.store().store.stage(of: digest(text)) == .done) }
        #expect(try disk.store().store.stage(of: digest("third")) == .begun)
    }

    @Test func `a record that cannot be read is not made another installation's by a note`() throws {
        let spoilt = Array("no id\n".utf8)
        let disk = SimulatedDisk([.live: sealed(.test(7)), .installation: spoilt])
        var (store, found) = disk.store(.keyless)
        #expect(found.unreadable?.status == .locked)

        try store.note(.done, of: digest("token"))

        #expect(disk.content[.installation] == spoilt)
        #expect(disk.store().found.record == .test(7))
    }
}
