import Glibc
import JunctionSecret
import JunctionSession
import Synchronization
import Testing

@testable import JunctionVault

/// The used bootstrap credentials.
@Suite struct UsedCredentialsTests {
    private func digest(_ text: String, at installation: String = thisInstallation) -> String {
        UsedCredentials.digest(of: SharedSecret(text: text), installation: installation)
    }

    @Test func `a digest depends on the credential and on the installation`() {
        #expect(digest("token") == digest("token"))
        #expect(digest("token") != digest("other"))
        #expect(digest("token") != digest("token", at: otherInstallation))
        #expect(digest("token").utf8.count == 64)
    }

    @Test func `the last stage that was noted is read back`() {
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

    @Test func `the end of a pause is stored with the credential`() {
        var used = UsedCredentials()
        used.note(.unspent(), of: digest("token"))
        used.note(.unspent(notBefore: WallTime(milliseconds: 1_795_219_200_000)), of: digest("other"))

        let read = UsedCredentials(parsing: used.text)
        #expect(read == used)
        #expect(read.stage(of: digest("other")) == .unspent(notBefore: WallTime(milliseconds: 1_795_219_200_000)))
    }

    @Test func `the file of used credentials has a size limit`() {
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
    func `invalid lines are skipped`(text: String) {
        #expect(UsedCredentials(parsing: Array(text.utf8)) == UsedCredentials())
    }

    // MARK: On disk

    @Test func `a stage noted on a new device is known after a power cut with the same installation id`() throws {
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

    @Test func `a sign-out is not durable until all pending stages are`() throws {
        let disk = SimulatedDisk(live: sealed(.test(7)))
        var (store, _) = disk.store()
        disk.fail { _, operation in operation.subject.contains("used-credentials.tmp") ? EIO : nil }
        #expect(throws: FileFault.self) { try store.note(.done, of: digest("token")) }
        #expect(try store.stage(of: digest("token")) == .done)

        // A session can still be written, also after a sign-out that was refused.
        try store.write(.test(8), .test(8), unopened: .erased)
        #expect(throws: StoreFailure.self) { try store.write(.test(9, .signedOut), SessionSecrets()) }
        #expect(disk.store().found.record == .test(9, .signedOut))
        disk.fail(nil)
        try store.write(.test(9, edition: 1, .signedOut), SessionSecrets())

        #expect(try disk.store().store.stage(of: digest("token")) == .done)
    }

    @Test func `a stage on a full disk uses the reserve`() throws {
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
    func `an unreadable file of stages is an error and is not overwritten`(code: Int32) throws {
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
        // This process knows the stages that it has noted as done.
        #expect(try store.stage(of: digest("other")) == .done)
        #expect(throws: FileFault.self) { try store.stage(of: digest("third")) }
        // A session can still be written. A sign-out is not durable until the stages are.
        try store.write(.test(8), .test(8))
        #expect(throws: StoreFailure.self) { try store.write(.test(9, .signedOut), SessionSecrets()) }

        disk.fail(nil)
        #expect(try store.stage(of: digest("token")) == .done)
        try store.write(.test(9, edition: 1, .signedOut), SessionSecrets())
        for text in ["token", "other"] { #expect(try disk.store().store.stage(of: digest(text)) == .done) }
        #expect(try disk.store().store.stage(of: digest("third")) == .begun)
    }

    @Test func `noting a stage does not replace a damaged id beside a locked record`() throws {
        let spoilt = Array("no id\n".utf8)
        let disk = SimulatedDisk([.record: sealed(.test(7)), .installation: spoilt])
        var (store, found) = disk.store(.keyless)
        #expect(found.unreadable?.status == .locked)

        try store.note(.done, of: digest("token"))

        #expect(disk.content[.installation] == spoilt)
        #expect(disk.store().found.record == .test(7))
    }
}
