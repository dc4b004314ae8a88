import CInstruments

/// GnuPG's agent; the request is for its version.
final class GpgAgent: Peer {
    static let name = "gpg-agent"
    static let package = "gpg-agent"
    static let programs = ["gpg-agent", "gpgconf", "gpg-connect-agent"]

    let launched: LaunchedPeer
    private let home: String

    static func launch(_ lab: Lab) throws -> LaunchedPeer { try launch(lab, home: try lab.folder("gnupg")) }

    private static func launch(_ lab: Lab, home: String) throws -> LaunchedPeer {
        let environment = ["GNUPGHOME": home]
        let socket = try Command(named: "gpgconf", ["--list-dirs", "agent-socket"], environment: environment).run()
        return try LaunchedPeer(
            Command(named: "gpg-agent", ["--daemon", "--disable-scdaemon"], environment: environment),
            listeningOn: String(socket.prefix { $0 != "\n" }),
            log: lab.path("gpg-agent.log")
        ) { launcher in
            _ = try launcher.awaitEnd(within: 10)
            return ChildProcess(adopting: try processNumber(home))
        }
    }

    /// The agent has detached itself. It reports its process id on request: `D 1234`.
    private static func processNumber(_ home: String) throws -> Int32 {
        let answer = try ask("GETINFO pid", home).run()
        let digits = answer.drop { !$0.isNumber }.prefix { $0.isNumber }
        guard let number = Int32(digits) else { throw Trouble("gpg-agent does not say its process: \(answer)") }
        return number
    }

    private static func ask(_ question: String, _ home: String) throws -> Command {
        try Command(
            named: "gpg-connect-agent",
            ["--no-autostart", question, "/bye"],
            environment: ["GNUPGHOME": home]
        )
    }

    init(_ lab: Lab) throws {
        home = try lab.folder("gnupg")
        launched = try Self.launch(lab, home: home)
        version = try Self.ask("GETINFO version", home)
    }

    private let version: Command

    var road: Subject.Road {
        .socket(Exchange(launched.socket, wire: wire_assuan, Array("GETINFO version\n".utf8)))
    }

    var client: Command { version }
}
