import Foundation
import JunctionTesting

/// A private `/etc` folder with users and groups for one program, in its own mount namespace.
final class MachineAccounts {
    private let etc: String

    /// - Parameter services: The name services in the format of `nsswitch.conf`.
    init(in folder: TemporaryFolder, services: String, users: [String] = [OtherUser.name]) throws {
        etc = try folder.makeFolder("etc")
        try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: etc)
        try write("nsswitch.conf", "passwd: \(services)\ngroup: \(services)\n")
        try write("group", "root:x:0:\nnogroup:x:65534:\n")
        try know(users)
    }

    /// Replaces the users. Root always exists.
    func know(_ users: [String]) throws {
        let lines = users.enumerated().map { "\($1):x:\(OtherUser.identifier + $0):65534::/:/bin/false\n" }
        try write("passwd", "root:x:0:0::/root:/bin/sh\n" + lines.joined())
    }

    /// Deletes the file of the users, as if the name service were unavailable.
    func loseUsers() throws {
        try FileManager.default.removeItem(atPath: etc + "/passwd")
    }

    private func write(_ name: String, _ text: String) throws {
        try Data(text.utf8).write(to: URL(fileURLWithPath: etc + "/" + name))
    }

    /// Starts the daemon with these accounts.
    func junctiond(
        _ arguments: [String],
        in folder: TemporaryFolder,
        environment: [String: String] = [:]
    ) throws -> Program {
        let script = "mount --bind \"$0\" /etc && exec \"$@\""
        let shell = ["--mount", "/bin/sh", "-c", script, etc, Program.path(of: "junctiond")]
        return try Program(SystemPrograms.unshare, shell + arguments, in: folder, environment: environment)
    }

    /// Whether the test may create a mount namespace.
    static let arePossible: Bool = {
        guard geteuid() == 0, SystemPrograms.has(SystemPrograms.unshare) else { return false }
        let attempt = ["--mount", "/bin/sh", "-c", "mount --bind / /mnt"]
        return (try? Program(SystemPrograms.unshare, attempt, in: TemporaryFolder()).wait().status) == 0
    }()
}
