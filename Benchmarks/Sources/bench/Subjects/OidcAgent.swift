import CInstruments
import Glibc

/// oidc-agent with one account at a provider on loopback; the request is for its cached access token.
final class OidcAgent: Peer {
    static let name = "oidc-agent"
    static let package = "oidc-agent-cli, python3 and openssl"
    static let programs = ["oidc-agent", "oidc-gen", "oidc-token", "python3", "openssl"]
    static let handsOutTokens = true

    let launched: LaunchedPeer
    private let provider: ChildProcess
    private let configuration: String
    /// While this file exists, the provider does not answer.
    private let hangFile: String
    private static let account = "bench"

    static func launch(_ lab: Lab) throws -> LaunchedPeer {
        let socket = lab.path("oidc.sock")
        return try LaunchedPeer(
            Command(
                named: "oidc-agent",
                ["--console", "--socket-path=\(socket)"],
                environment: ["OIDC_CONFIG_DIR": try lab.folder("oidc")]
            ),
            listeningOn: socket,
            log: lab.path("oidc-agent.log")
        )
    }

    init(_ lab: Lab) throws {
        let certificates = try Certificates(lab)
        hangFile = lab.path("provider-hangs")
        let output = try Pipe()
        provider = try ChildProcess(
            Command(
                named: "python3",
                [Lab.supportFolder + "oidc-provider.py", certificates.chain, certificates.key, hangFile]
            ),
            output: output.input,
            errors: output.input
        )
        output.closeInput()
        let origin = try output.readLine(containing: "listening on").split(separator: " ").last!

        configuration = try lab.folder("oidc")
        launched = try Self.launch(lab)
        let password = lab.path("password")
        try lab.write("secret\n", to: password)
        let account = [
            "--manual", "--iss=\(origin)/", "--client-id=bench", "--client-secret=bench", "--rt=rt-0",
            "--scope=openid offline_access", "--redirect-uri=http://localhost:4242",
            "--cp=\(certificates.authority)", "--pw-file=\(password)", "--confirm-default", "--prompt=none",
        ]
        try Command(named: "oidc-gen", [Self.account] + account, environment: environment).run()
        try client.run()
    }

    var road: Subject.Road {
        // The library looks for the socket there.
        setenv("OIDC_SOCK", launched.socket, 1)
        return .oidcLibrary(account: Self.account)
    }

    var client: Command { Command(Command.find("oidc-token")!, [Self.account], environment: environment) }

    /// Requests a fresh token while the provider hangs, and at the same time the cached one. Returns the milliseconds
    /// until the second answer, or `nil` after a timeout.
    func timeToOutputWhileProviderHangs(within seconds: Double, log: String) throws -> Double? {
        close(open(hangFile, O_WRONLY | O_CREAT, 0o600))
        var fetch = client
        fetch.arguments.append("--force-new")
        let fetching = try ChildProcess(fetch, log: log)
        defer { fetching.stop() }
        // The agent handles one request after the other: the pause makes sure that the hanging one is first.
        usleep(300_000)
        do {
            return try client.timeToOutput(within: seconds)
        } catch let trouble as Trouble where trouble.code == ETIMEDOUT {
            return nil
        }
    }

    private var environment: [String: String] {
        ["OIDC_SOCK": launched.socket, "OIDC_CONFIG_DIR": configuration]
    }
}
