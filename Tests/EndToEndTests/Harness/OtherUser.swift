import Foundation
import JunctionTesting

/// Another user of the machine without special rights. `nobody` is no example, because the daemon gives no right to it.
struct OtherUser {
    static let identifier = 2
    static let name = "bin"

    private let installation: Installation
    private let client: String

    init(_ installation: Installation) throws {
        self.installation = installation
        // Other users may not read the build folder. A separate program makes the copy: a file that this process has
        // open for writing could not be executed while another test starts a process.
        client = installation.folder.path + "/junctionctl"
        let copy = ["-m", "755", Program.path(of: "junctionctl"), client]
        try Program("/usr/bin/install", copy, in: installation.folder).wait()
        try FileManager.default.setAttributes([.posixPermissions: 0o711], ofItemAtPath: installation.folder.path)
    }

    /// Creates an installation with a running daemon, to whose socket this user may connect.
    static func installation(configuration: String) throws -> (Installation, OtherUser) {
        let installation = try Installation.started(configuration: configuration)
        let user = try OtherUser(installation)
        try user.openSocket()
        return (installation, user)
    }

    /// An access entry that gives this user one capability.
    static func entry(allowing capability: String) -> String {
        "[[access]]\nallow = [\"\(capability)\"]\nuser = \"\(name)\"\n"
    }

    /// Lets every user connect to the JSON-RPC socket, so that only the daemon's own rules apply.
    func openSocket() throws {
        try open(installation.socket)
    }

    /// Lets every user connect to a socket.
    func open(_ socket: String) throws {
        let directory = installation.folder.path + "/run"
        try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: directory)
        try FileManager.default.setAttributes([.posixPermissions: 0o666], ofItemAtPath: socket)
    }

    /// The command that runs a program as this user.
    static let command = [
        SystemPrograms.setpriv, "--reuid", "\(identifier)", "--regid", "\(identifier)", "--clear-groups",
    ]

    func ctl(_ arguments: String...) throws -> Program.Ending {
        try ctl(arguments)
    }

    func ctl(_ arguments: [String], groups: String? = nil, input: String? = nil) throws -> Program.Ending {
        let command = command(arguments, groups: groups)
        return try Program(
            SystemPrograms.setpriv,
            command,
            in: installation.folder,
            environment: environment,
            input: input
        )
        .wait()
    }

    /// Starts a client. The caller ends it.
    func start(_ arguments: [String]) throws -> Program {
        let command = command(arguments, groups: nil)
        return try Program(SystemPrograms.setpriv, command, in: installation.folder, environment: environment)
    }

    func watch() throws -> RunningProgram {
        let command = command(["watch", "--json"], groups: nil)
        return try RunningProgram(SystemPrograms.setpriv, command, in: installation.folder, environment: environment)
    }

    private var environment: [String: String] { ["JUNCTIOND_SOCKET": installation.socket] }

    private func command(_ arguments: [String], groups: String?) -> [String] {
        let identity = ["--reuid", "\(Self.identifier)", "--regid", "\(Self.identifier)"]
        return identity + (groups.map { ["--groups", $0] } ?? ["--clear-groups"]) + [client] + arguments
    }
}
