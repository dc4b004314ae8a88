import Foundation
import JunctionTesting
import Testing

/// Tests of `junctionctl token --output`.
@Suite struct TokenOutputTests {
    private let installation: Installation
    private let path: String

    init() throws {
        installation = try Installation.started()
        path = installation.folder.path + "/files/token"
        try installation.folder.makeFolder("files")
    }

    private var content: String? { installation.folder.read("files/token").map { String(decoding: $0, as: UTF8.self) } }

    private var names: [String] {
        (try? FileManager.default.contentsOfDirectory(atPath: installation.folder.path + "/files")) ?? []
    }

    private var inode: Int? {
        get throws { try FileManager.default.attributesOfItem(atPath: path)[.systemFileNumber] as? Int }
    }

    /// Starts the command, which reports each change of the file as the service manager's status.
    private func follow(_ more: String...) throws -> (program: Program, manager: FakeServiceManager) {
        let manager = try FakeServiceManager(.path)
        let program = try Program(
            "junctionctl",
            ["token", "--output", path, "--follow"] + more,
            in: installation.folder,
            environment: ["JUNCTIOND_SOCKET": installation.socket, "NOTIFY_SOCKET": manager.name]
        )
        return (program, manager)
    }

    private func awaitWritten(_ manager: FakeServiceManager) throws {
        _ = try manager.wait("the token") { $0.hasPrefix("STATUS=the token is written") }
    }

    @Test func `the file has the token alone, or in another form`() throws {
        try installation.signInNewUser()
        let token = try #require(try installation.token())

        #expect(try installation.ctl("token", "--output", path).output == "")
        #expect(content == token)
        #expect(try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int == 0o600)
        _ = try installation.ctl("token", "--output", path, "--format", "header", "--mode", "0640")
        #expect(content == "Authorization: Bearer \(token)\n")
        #expect(try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int == 0o640)
        _ = try installation.ctl("token", "--output", path, "--format", "json")
        #expect(content?.contains(#""accessToken":"\#(token)""#) == true)
        #expect(names == ["token"])
    }

    @Test func `without a user nothing is written`() throws {
        let ending = try installation.ctl("token", "--output", path)

        #expect(ending.status == 3)
        #expect(names == [])
    }

    @Test(.enabled(if: getuid() == 0)) func `a group gets the file`() throws {
        try installation.signInNewUser()

        let ending = try installation.ctl("token", "--output", path, "--mode", "0640", "--group", "nogroup")

        #expect(ending.status == 0, "\(ending.errors)")
        let group = try FileManager.default.attributesOfItem(atPath: path)[.groupOwnerAccountName] as? String
        #expect(group == "nogroup")
        #expect(try installation.ctl("token", "--output", path, "--mode", "0640", "--group", "none-such").status == 64)
    }

    /// Gives a folder a default access control list with the user 12345.
    private static let giveList = """
        import os, struct, sys
        nobody = 0xFFFFFFFF
        entries = [(1, 7, nobody), (2, 7, 12345), (4, 0, nobody), (16, 7, nobody), (32, 0, nobody)]
        content = struct.pack("<I", 2) + b"".join(struct.pack("<HHI", *entry) for entry in entries)
        os.setxattr(sys.argv[1], "system.posix_acl_default", content)
        """

    @Test(.enabled("python3 is not installed") { SystemPrograms.hasPython })
    func `a folder's default access control list gives nobody the file`() throws {
        let folder = installation.folder.path + "/files"
        let script = try installation.folder.write(Self.giveList, to: "list.py")
        let given = try installation.shell("python3 \(script) \(folder)")
        // Not every file system has such lists.
        guard given.status == 0 else { return }
        try installation.signInNewUser()

        _ = try installation.ctl("token", "--output", path, "--mode", "0640")

        let left = try installation.shell("python3 -c 'import os, sys; print(os.listxattr(sys.argv[1]))' \(path)")
        #expect(left.output == "[]\n", "\(left.errors)")
        #expect(try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int == 0o640)
    }

    @Test func `with --follow the file follows sign-in, renewal and sign-out`() throws {
        let (program, manager) = try follow()
        let ready = try manager.wait("the start") { $0.hasPrefix("STATUS=") }
        #expect(ready.contains("READY=1"))
        #expect(ready.contains("STATUS=no user is signed in"))
        #expect(content == nil)

        try installation.signInNewUser()
        try awaitWritten(manager)
        let first = try installation.token()
        #expect(content == first)

        try installation.connect().call("session.renew")
        try awaitWritten(manager)
        #expect(content == (try installation.token()))
        #expect(content != first)

        try installation.signOut()
        _ = try manager.wait("the sign-out") { $0 == "STATUS=no user is signed in" }
        #expect(names == [])
        #expect(program.isRunning)
    }

    @Test(arguments: [SIGTERM, SIGINT, SIGHUP])
    func `the end of the program removes the file`(signal: Int32) throws {
        try installation.signInNewUser()
        let (program, manager) = try follow()
        try awaitWritten(manager)
        #expect(content != nil)

        program.signal(signal)
        let ending = try program.wait()

        #expect(ending.wasKilled && ending.status == signal)
        #expect(names == [])
    }

    @Test func `the file stays while the daemon restarts, and follows afterwards`() throws {
        try installation.signInNewUser()
        let (program, manager) = try follow()
        try awaitWritten(manager)
        let before = content
        let inode = try self.inode

        try installation.stopDaemon()
        try manager.wait(for: "STATUS=the daemon cannot be reached")
        try installation.startDaemon()
        // The program has connected again and compared the token.
        try awaitWritten(manager)
        #expect(try self.inode == inode)
        try installation.connect().call("session.renew")

        try awaitWritten(manager)
        #expect(content == (try installation.token()))
        #expect(content != before)
        #expect(program.isRunning)
    }

    @Test func `a sign-out that the program did not see removes the file`() throws {
        try installation.signInNewUser()
        let (program, manager) = try follow()
        try awaitWritten(manager)

        program.signal(SIGSTOP)
        try installation.signOut()
        try installation.restartDaemon()
        program.signal(SIGCONT)

        _ = try manager.wait("the sign-out") { $0 == "STATUS=no user is signed in" }
        #expect(names == [])
    }

    @Test func `a file of an earlier process is removed when no user is signed in`() throws {
        try installation.folder.write("old.0123456789abcdefghij", to: "files/token")

        let (program, manager) = try follow()
        _ = try manager.wait("the start") { $0 == "STATUS=no user is signed in" }

        #expect(names == [])
        #expect(program.isRunning)
    }

    @Test func `if the first write fails, the token of an earlier process does not stay`() throws {
        try installation.signInNewUser()
        // The path of the temporary file is longer than PATH_MAX (4,096), and that of the token file is not.
        var folder = installation.folder.path + "/files"
        while folder.utf8.count < 4_070 {
            folder += "/" + String(repeating: "d", count: max(1, min(200, 4_069 - folder.utf8.count)))
        }
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        try Data("old.0123456789abcdefghij".utf8).write(to: URL(fileURLWithPath: folder + "/t"))

        let ending = try installation.ctl("token", "--output", folder + "/t", "--follow")

        #expect(ending.errors.contains("(outputFailed): "))
        #expect(!FileManager.default.fileExists(atPath: folder + "/t"))
    }

    @Test func `it waits for a daemon that is not there yet`() throws {
        try installation.stopDaemon()
        let (program, manager) = try follow()

        try installation.startDaemon()
        try installation.signInNewUser()

        try awaitWritten(manager)
        #expect(content == (try installation.token()))
        #expect(program.isRunning)
    }

    @Test func `a folder that cannot be written to ends it`() throws {
        try installation.signInNewUser()
        let ending = try installation.ctl("token", "--output", installation.folder.path + "/none/token", "--follow")

        #expect(ending.status == 1)
        #expect(ending.errors.contains("(outputFailed): "))
    }
}
