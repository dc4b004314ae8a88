import Foundation
import JunctionTesting

/// The users and groups of a machine, for one program: a folder that it finds at `/etc`, in a mount namespace of its own.
final class MachineAccounts {
    private let etc: String

    /// - Parameter services: the name services, as `nsswitch.conf` lists them.
    init(in folder: TemporaryFolder, services: String, users: [String] = ["nobody"]) throws {
        etc = try folder.makeFolder("etc")
        try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: etc)
        try write("nsswitch.conf", "passwd: \(services)\ngroup: \(services)\n")
        try write("group", "root:x:0:\nnogroup:x:65534:\n")
        try know(users)
    }

    /// There are these users and root, and no other.
    func know(_ users: [String]) throws {
        let lines = users.enumerated().map { "\($1):x:\(65_534 - $0):65534::/:/bin/false\n" }
        try write("passwd", "root:x:0:0::/root:/bin/sh\n" + lines.joined())
    }

    /// The file of the users is away, as a server of names can be.
    func loseUsers() throws {
        try FileManager.default.removeItem(atPath: etc + "/passwd")
    }

    private func write(_ name: String, _ text: String) throws {
        try Data(text.utf8).write(to: URL(fileURLWithPath: etc + "/" + name))
    }

    /// The daemon, which sees these accounts and no other.
    func junctiond(
        _ arguments: [String],
        in folder: TemporaryFolder,
        environment: [String: String] = [:]
    ) throws -> Program {
        let script = "mount --bind \"$0\" /etc && exec \"$@\""
        let shell = ["--mount", "/bin/sh", "-c", script, etc, Program.path(of: "junctiond")]
        return try Program(SystemPrograms.unshare, shell + arguments, in: folder, environment: environment)
    }

    /// Whether this test may have a mount namespace of its own.
    static let arePossible: Bool = {
        guard geteuid() == 0, SystemPrograms.has(SystemPrograms.unshare) else { return false }
        let attempt = ["--mount", "/bin/sh", "-c", "mount --bind / /mnt"]
        return (try? Program(SystemPrograms.unshare, attempt, in: TemporaryFolder()).wait().status) == 0
    }()
}
