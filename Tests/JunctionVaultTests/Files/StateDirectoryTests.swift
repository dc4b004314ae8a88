import Foundation
import JunctionTesting
import Testing

@testable import JunctionVault

@Suite struct StateDirectoryTests {
    private let temporary = TemporaryFolder()

    @Test func `a missing directory is created with its parents, for its owner only`() throws {
        let path = "\(temporary.path)/a/b/c"

        _ = try StateDirectory(path: path)

        #expect(try temporary.mode("a/b/c") == 0o700)
        #expect(try temporary.mode("a") == 0o700)
    }

    @Test func `a directory that others can read is made private with a note`() throws {
        chmod(temporary.path, 0o755)

        let directory = try temporary.opened()

        #expect(directory.correction != nil)
        #expect(try temporary.mode() == 0o700)
    }

    @Test(arguments: [0o720, 0o702, 0o777] as [mode_t])
    func `a directory that others can write to is refused with the remedy`(mode: mode_t) throws {
        chmod(temporary.path, mode)

        let refusal = #expect(throws: VaultRefusal.self) { try temporary.opened() }

        #expect(try #require(refusal).message.contains("chmod 700 \(temporary.path)"))
    }

    @Test(.enabled(if: geteuid() == 0, "Only root can give a directory away"))
    func `a directory of another user is refused with the remedy`() throws {
        chown(temporary.path, 12_345, 12_345)

        let refusal = #expect(throws: VaultRefusal.self) { try temporary.opened() }

        #expect(try #require(refusal).message.contains("belongs to user 12345"))
    }

    @Test func `a file in place of the directory is refused`() throws {
        try temporary.write([], to: "file")

        let refusal = #expect(throws: VaultRefusal.self) { try StateDirectory(path: "\(temporary.path)/file") }

        #expect(try #require(refusal).message.contains("Not a directory"))
    }

    @Test func `a link to the directory is followed`() throws {
        symlink(temporary.path, "\(temporary.path)/link")

        #expect(throws: Never.self) { try StateDirectory(path: "\(temporary.path)/link") }
    }

    // Files.

    @Test func `a file is created for its owner only`() throws {
        let directory = try temporary.opened()

        let descriptor = try directory.create(.temporary)
        try directory.close(descriptor, of: .temporary)

        #expect(try temporary.mode(StateFile.temporary.name) == 0o600)
    }

    @Test func `a file is not created in place of another one or through a link`() throws {
        let directory = try temporary.opened()
        symlink("/nowhere", "\(temporary.path)/\(StateFile.temporary.name)")

        let fault = #expect(throws: FileFault.self) { try directory.create(.temporary) }

        #expect(fault?.code == EEXIST)
    }

    @Test func `a written file is read back unchanged`() throws {
        let directory = try temporary.opened()
        let bytes = (0..<100_000).map { UInt8(truncatingIfNeeded: $0) }

        let descriptor = try directory.create(.record)
        try bytes.withUnsafeBytes { try directory.write($0, to: descriptor, of: .record) }
        try directory.sync(descriptor, of: .record)
        try directory.close(descriptor, of: .record)
        try directory.sync(.stateDirectory)

        #expect(try directory.read(.record, atMost: 1 << 20) == bytes)
        #expect(try directory.read(.record, atMost: 10) == Array(bytes.prefix(10)))
        #expect(try directory.names(in: .stateDirectory) == ["session.sealed"])
    }

    @Test func `a missing file is not an error, nor is a missing folder`() throws {
        let directory = try temporary.opened()

        #expect(try directory.read(.record, atMost: 10) == nil)
        #expect(try directory.names(in: .quarantine) == [])
        #expect(throws: Never.self) { try directory.remove(.record) }
    }

    @Test func `a link, a directory or a pipe is refused as a file`() throws {
        let directory = try temporary.opened()
        try temporary.write([1], to: "target")
        symlink("\(temporary.path)/target", "\(temporary.path)/link")
        mkdir("\(temporary.path)/folder", 0o700)
        mkfifo("\(temporary.path)/pipe", 0o600)

        for name in ["link", "folder", "pipe"] {
            let fault = #expect(throws: FileFault.self) { try directory.read(StateFile(name), atMost: 10) }
            #expect(fault?.isNotAPlainFile == true, "\(name)")
        }
    }

    @Test func `a file moves to quarantine and keeps its content`() throws {
        let directory = try temporary.opened()
        try temporary.write([1, 2], to: StateFile.temporary.name)
        try temporary.write([3, 4], to: StateFile.record.name)

        let quarantine = Quarantine(files: directory)
        try quarantine.take(.temporary, as: "generation-1.0-a", acknowledged: [])
        try quarantine.keep(.record, as: "generation-2.0-b", acknowledged: [])
        try quarantine.keep(.record, as: "generation-2.0-b", acknowledged: [])

        #expect(temporary.names == ["quarantine", "session.sealed"])
        #expect(temporary.read("quarantine/generation-1.0-a") == [1, 2])
        #expect(temporary.read("quarantine/generation-2.0-b") == [3, 4])
        #expect(try temporary.mode("quarantine") == 0o700)

        try quarantine.clear()
        #expect(try quarantine.names() == [])
    }

    @Test func `the reserve occupies blocks on the disk`() throws {
        let directory = try temporary.opened()

        try directory.reserve(.reserve, size: 65_536)

        var status = stat()
        try #require(stat("\(temporary.path)/reserve", &status) == 0)
        #expect(status.st_blocks * 512 >= 65_536)
        #expect(try temporary.mode("reserve") == 0o600)
    }
}
