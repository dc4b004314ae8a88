import Foundation
import JunctionTesting
import Testing

/// Tests of `junctionctl handle-renewals --exec` with an app's backend and social.plus in secure mode.
struct HandleRenewalsTests {
    private static let hasTools = ["/usr/bin/curl", "/usr/bin/jq"].allSatisfy(SystemPrograms.has)

    @Test(.needsCurl)
    func `the README's example renews without changes`() throws {
        let example = try #require(
            try Guide.shellBlocks(of: "README.md").first { $0.contains("handle-renewals --exec") }
        )

        try renews(
            example,
            backend: "https://backend.example.com/token",
            credential: "/etc/my-app/backend-auth"
        )
    }

    @Test(.needsCurl)
    func `the client documentation's example renews`() throws {
        let document = try Guide.text(of: "docs/client.md")
        let script = try #require(document.firstMatch(of: /```sh\n(#!\/bin\/sh\n(?s:.*?))```/)).1
        let path = "/usr/local/bin/fetch-token"
        let call = try #require(document.firstMatch(of: /```sh\n(junctionctl handle-renewals[^\n]*\n)/)).1
        #expect(call.contains(path))

        try renews(
            "cat > fetch-token <<'END'\n\(script)END\nchmod +x fetch-token\n"
                + call.replacing(path, with: "./fetch-token"),
            backend: "https://backend.example.com/junction-token",
            credential: "/etc/health-sync/backend-auth"
        )
    }

    /// Runs an example against the sandbox, which acts as the backend. Only the backend's address and the path of its
    /// credential are replaced.
    private func renews(_ example: String, backend: String, credential: String) throws {
        let installation = try Installation.social()
        try installation.cloud.sandbox("POST", "social/settings", ["secureMode": true])
        try installation.signInAnna()
        let answer: Object = ["token": try installation.authToken(for: "Anna")]
        try installation.cloud.fault(["match": "/backend", "status": 200, "body": answer])
        let header = try installation.folder.write("X-Backend: let-me-in\n", to: "backend-auth")
        #expect(example.contains(backend))
        #expect(example.contains("@" + credential))
        let commands = example.replacing(backend, with: installation.cloud.url + "/backend")
            .replacing(credential, with: header)
        let handler = try installation.handler(running: commands)

        let client = try installation.connect()
        let renewal = try client.request("session.renew")
        let line = try handler.awaitLine()

        #expect(line.hasSuffix("of Anna (requested): renewWithAuthToken"))
        #expect(try client.answer(to: renewal).generation == 2)
        let asked = try #require(try installation.cloud.requests(to: "/backend").first)
        #expect(asked["method"] as? String == "GET")
        #expect((asked["headers"] as? [String])?.contains("x-backend") == true)
    }

    @Test func `a handler is told if its daemon renews without handlers`() throws {
        let installation = try Installation.started()

        let handler = try installation.handler(running: "junctionctl handle-renewals --exec true")

        let warning = try handler.awaitLine()
        #expect(warning.hasPrefix("junctionctl: warning: renewal.mode is \"automatic\""), "\(warning)")
        #expect(warning.contains("set renewal.mode = \"handler\" and restart junctiond"))
        #expect(try installation.connect().call("handler.register")["mode"] as? String == "automatic")
    }

    @Test(arguments: ["./fetch-tokne", "fetch-tokne --user Anna", "/nonexistent/fetch"])
    func `a command with a missing program causes one warning`(line: String) throws {
        let installation = try Installation.social()
        let handler = try TalkingHandler(
            running: "junctionctl handle-renewals --exec '\(line)'",
            socket: installation.socket,
            in: installation.folder
        )

        let warning = try handler.awaitLine()

        #expect(
            warning.hasPrefix("junctionctl: warning: the program in --exec does not exist or cannot be executed"),
            "\(warning)"
        )
        #expect(!warning.contains("fetch"))
        #expect(try handler.awaitLine().contains("registered as session handler"))
        #expect(try installation.connect().call("handler.register")["mode"] == nil)
    }

    @Test(.enabled(if: hasTools))
    func `a script that calls the provider's server API renews, and postpones if it fails`() throws {
        let installation = try Installation.social()
        try installation.cloud.sandbox("POST", "social/settings", ["secureMode": true])
        try installation.signInAnna()
        let key = try installation.folder.write("x-server-key: sandbox-server-key\n", to: "server-key")
        let handler = try installation.handler(
            running: """
                cat > ask-server <<'END'
                #!/bin/sh
                set -eu
                jq --compact-output '{userId}' |
                    curl --fail --silent --max-time 20 --header @\(key) --data @- \\
                        \(installation.cloud.url)/api/v4/authentication/token |
                    jq --exit-status --compact-output '{action: "renewWithAuthToken", authToken: .}'
                END
                chmod +x ask-server
                junctionctl handle-renewals --exec ./ask-server
                """
        )
        let client = try installation.connect()
        let renewal = try client.request("session.renew")
        let line = try handler.awaitLine()
        #expect(line.hasSuffix("of Anna (requested): renewWithAuthToken"))
        #expect(try client.answer(to: renewal).generation == 2)

        // Without `pipefail`, the last program of the pipeline decides: jq gets no input and fails.
        try installation.cloud.fault(["match": "/api/v4/authentication", "status": 500])
        let refusal = try client.refusal("session.renew")

        #expect((600...661).contains(refusal.retryAfter ?? 0))
        #expect(try handler.awaitLine().contains("unableToRetrieveAuthToken: "))
        #expect(try client.call("session.status").phase == "postponed")
    }
}

extension Installation {
    fileprivate func signInAnna() throws {
        let token = try authToken(for: "Anna")
        try connect().call("session.signIn", ["scheme": "userLogin", "userId": "Anna", "authToken": token])
    }

    /// Runs shell commands, the last of which becomes a session handler, and waits until it is registered.
    fileprivate func handler(running commands: String) throws -> TalkingHandler {
        let handler = try TalkingHandler(running: commands, socket: socket, in: folder)
        #expect(try handler.awaitLine() == "junctionctl: registered as session handler; waiting for renewals")
        return handler
    }
}

/// A shell script that ends with `junctionctl handle-renewals`, and its standard error.
private final class TalkingHandler {
    private let program: RunningProgram

    /// The shell writes the script. A process that another test is starting could hold a file of this process open, and
    /// such a file cannot be executed.
    init(running commands: String, socket: String, in folder: TemporaryFolder) throws {
        // `exec` replaces the shell, so that a signal ends junctionctl.
        let script = "cd \(folder.path)\nexec 2>&1\n\(commands)"
            .replacing("\njunctionctl handle-renewals", with: "\nexec junctionctl handle-renewals")
        let path = Program.folder + ":" + (ProcessInfo.processInfo.environment["PATH"] ?? "")
        program = try RunningProgram(
            "/bin/sh",
            ["-c", script],
            in: folder,
            environment: ["PATH": path, "JUNCTIOND_SOCKET": socket]
        )
    }

    func awaitLine() throws -> String {
        guard let line = try program.lines.next() else {
            throw TestFailure(description: "The handler ended: \(program.program.errors)")
        }
        return line
    }

    deinit { program.program.signal(SIGKILL) }
}
