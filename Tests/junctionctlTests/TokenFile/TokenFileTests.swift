import ArgumentParser
import Glibc
import JunctionClient
import JunctionProtocol
import JunctionTesting
import Testing

@testable import junctionctl

/// The file of `token --output`.
struct TokenFileTests {
    private let folder = TemporaryFolder()
    private let accounts = AccountFiles(users: "", groups: "health:x:995:anna\n")

    private func mode(of path: String) -> mode_t {
        var status = stat()
        return lstat(path, &status) == 0 ? status.st_mode & 0o7777 : 0
    }

    @Test func `the file is replaced as a whole, and nothing stays beside it`() throws {
        var file = TokenFile(path: folder.path + "/token")

        try file.replace(with: SecretText("first"))
        let reader = open(file.path, O_RDONLY | O_CLOEXEC)
        defer { close(reader) }
        try file.replace(with: SecretText("second"))

        #expect(folder.read("token") == Array("second".utf8))
        #expect(folder.names == ["token"])
        #expect(mode(of: file.path) == 0o600)
        // A reader that has opened the file before gets all of the old content.
        var bytes = [UInt8](repeating: 0, count: 16)
        #expect(read(reader, &bytes, 16) == 5)
    }

    @Test func `a name may be as long as the file system allows`() throws {
        let name = String(repeating: "n", count: 255)
        var file = TokenFile(path: "\(folder.path)/\(name)")

        try file.replace(with: SecretText("TOK"))

        #expect(folder.names == [name])
    }

    @Test(arguments: ["link", "folder", "pipe"])
    func `a name that belongs to no regular file is refused, and left alone`(kind: String) throws {
        let target = try folder.write("precious", to: "target")
        var file = TokenFile(path: folder.path + "/token")
        let made =
            switch kind {
            case "link": symlink(target, file.path)
            case "folder": mkdir(file.path, 0o700)
            default: mkfifo(file.path, 0o600)
            }
        try #require(made == 0)

        #expect(throws: CommandFailure.self) { try file.replace(with: SecretText("TOK")) }
        #expect(throws: CommandFailure.self) { try file.remove() }

        #expect(folder.names == ["target", "token"])
        #expect(folder.read("target") == Array("precious".utf8))
    }

    @Test func `files with the name of a temporary file do not disturb a write`() throws {
        let target = try folder.write("precious", to: "target")
        try #require(symlink(target, folder.path + "/.junctionctl-token-1f") == 0)
        try folder.makeFolder(".junctionctl-token-2f")
        var file = TokenFile(path: folder.path + "/token")

        try file.replace(with: SecretText("TOK"))
        file.removeLeftovers()

        #expect(Set(folder.names) == [".junctionctl-token-1f", ".junctionctl-token-2f", "target", "token"])
        #expect(folder.read("target") == Array("precious".utf8))
    }

    @Test func `what a killed process has left is removed, and nothing else`() throws {
        let others = [
            ".junctionctl-token-", ".junctionctl-token-new", ".junctionctl-token-0123456789abcdef0",
            ".other-1f",
        ]
        for name in others + [".junctionctl-token-0123456789abcdef"] { try folder.write("TOK", to: name) }

        TokenFile(path: folder.path + "/token").removeLeftovers()

        #expect(Set(folder.names) == Set(others))
    }

    @Test func `the temporary file of a process that is writing stays`() throws {
        let path = try folder.write("TOK", to: ".junctionctl-token-1f")
        try folder.write("", to: ".junctionctl-token-2f")
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        defer { close(descriptor) }
        try #require(flock(descriptor, LOCK_EX) == 0)

        TokenFile(path: folder.path + "/token").removeLeftovers()

        #expect(Set(folder.names) == [".junctionctl-token-1f", ".junctionctl-token-2f"])
    }

    @Test(arguments: [
        ("TOK.tok-_~+/=1234567", true), ("0123456789abcdefghij", true), ("0123456789abcdefghi", false),
        ("secret", false),
        ("Authorization: Bearer TOK\n", true), ("{\"accessToken\": \"TOK\"}\n", true),
        ("notes\n", false), ("two words", false), ("", false), ("Authorization: Bearer \n", false),
        ("{\"a\": 1}\n", false),
        ("Authorization: Bearer A B\n", false), ("ä", false),
    ])
    func `a file with a token is recognised by its form`(content: String, isToken: Bool) {
        #expect(Array(content.utf8).withUnsafeBytes { TokenFormat.fits($0) } == isToken)
    }

    @Test func `before its first write a process removes a token, and no other file`() throws {
        try folder.write("notes\n", to: "notes")
        try folder.write("TOK.0123456789abcdef", to: "token")
        var (notes, token) = (TokenFile(path: folder.path + "/notes"), TokenFile(path: folder.path + "/token"))

        #expect(try notes.remove() == false)
        #expect(try token.remove())

        #expect(folder.names == ["notes"])
        // Only a file that was there at first can be one of an earlier process.
        try folder.write("TOK.0123456789abcdef", to: "token")
        #expect(try token.remove() == false)
        #expect(folder.names.contains("token"))
    }

    @Test func `a new file of another program is not taken for the own one`() throws {
        var file = TokenFile(path: folder.path + "/token")
        try file.replace(with: SecretText("TOK"))
        // The file system may give the number of a removed file to the next file.
        try #require(unlink(file.path) == 0)
        try folder.write("OTHER", to: "token")

        #expect(try file.remove() == false)

        #expect(folder.read("token") == Array("OTHER".utf8))
    }

    @Test func `only the file that was written last is its own`() throws {
        var file = TokenFile(path: folder.path + "/token")
        try folder.write("other", to: "token")
        try file.removeOwn()
        #expect(folder.names == ["token"])

        try file.replace(with: SecretText("TOK"))
        try file.removeOwn()
        #expect(folder.names == [])

        try file.removeOwn()
    }

    @Test func `the mode does not depend on the umask`() throws {
        let permissions = try FilePermissions(mode: "0640", group: nil, in: accounts)

        var file = TokenFile(path: folder.path + "/token", permissions: permissions)
        try file.replace(with: SecretText("TOK"))

        #expect(mode(of: folder.path + "/token") == 0o640)
    }

    @Test func `a folder that does not exist is an error that does not name it`() {
        var file = TokenFile(path: folder.path + "/none/token")

        let failure = #expect(throws: CommandFailure.self) { try file.replace(with: SecretText("TOK")) }

        #expect(failure?.kind == "outputFailed")
        #expect(failure?.line.contains("/none/") == false)
    }

    @Test func `a refused file has the remedy of a group only if the group was refused`() {
        let ofGroup = CommandFailure(tokenFile: "written", EPERM, inGivingToGroup: true)
        let ofFile = CommandFailure(tokenFile: "written", EPERM)

        #expect(ofGroup.remedy == "name a group that you belong to")
        #expect(ofFile.remedy == "name a file of your own, or one that does not exist")
        #expect(ofFile.what == ofGroup.what)
    }

    @Test(arguments: [("0600", 0o600), ("600", 0o600), ("0640", 0o640), ("0440", 0o440), ("0400", 0o400)])
    func `a mode without rights for others is taken`(text: String, mode: mode_t) throws {
        #expect(try FilePermissions(mode: text, group: nil, in: accounts).mode == mode)
    }

    @Test(arguments: ["0644", "0660", "0000", "0700", "4600", "640x", "", "-600", "99999999999999999999"])
    func `another mode is refused`(text: String) {
        #expect(throws: CommandFailure.self) { try FilePermissions(mode: text, group: nil, in: accounts) }
    }

    @Test func `a group is a name or a number, and needs the right to read`() throws {
        #expect(try FilePermissions(mode: "0640", group: "health", in: accounts).group == 995)
        #expect(try FilePermissions(mode: "0640", group: "7", in: accounts).group == 7)
        for (mode, group) in [("0640", "nobody-here"), ("0640", "4294967295"), ("0640", "-1"), ("0600", "health")] {
            #expect(throws: CommandFailure.self) { try FilePermissions(mode: mode, group: group, in: accounts) }
        }
    }

    @Test(arguments: [
        ["--follow"], ["--mode", "0640"], ["--group", "health"], ["--output", ""], ["--output", "folder/"],
        ["--output", "f", "--follow", "--min-validity", "5"], ["--format", "header", "--json"],
        ["--format", "token", "--header"], ["--format", "yaml"],
    ])
    func `options that do not fit together are refused`(words: [String]) {
        #expect(throws: (any Error).self) { try TokenCommand.parse(words) }
    }
}
