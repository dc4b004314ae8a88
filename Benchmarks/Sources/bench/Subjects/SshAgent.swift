import CInstruments

/// OpenSSH's agent with two keys; the request is for the list of them.
final class SshAgent: Peer {
    static let name = "ssh-agent"
    static let package = "openssh-client"
    static let programs = ["ssh-agent", "ssh-add", "ssh-keygen"]

    let launched: LaunchedPeer

    static func launch(_ lab: Lab) throws -> LaunchedPeer {
        let socket = lab.path("ssh.sock")
        return try LaunchedPeer(
            Command(named: "ssh-agent", ["-D", "-a", socket]),
            listeningOn: socket,
            log: lab.path("ssh-agent.log")
        )
    }

    init(_ lab: Lab) throws {
        launched = try Self.launch(lab)
        for _ in 1...2 {
            let key = lab.path("ssh-key")
            try Command(named: "ssh-keygen", ["-q", "-t", "ed25519", "-N", "", "-f", key]).run()
            try Command(named: "ssh-add", ["-q", key], environment: environment).run()
        }
    }

    var road: Subject.Road {
        let requestIdentities: [UInt8] = [0, 0, 0, 1, 11]
        return .socket(Exchange(launched.socket, wire: wire_ssh, requestIdentities))
    }

    var client: Command { Command(Command.find("ssh-add")!, ["-l"], environment: environment) }

    private var environment: [String: String] { ["SSH_AUTH_SOCK": launched.socket] }
}
