import FoundationEssentials
import Glibc

/// The steps of the demo. A step that fails ends it.
struct DemoScript {
    let stage: DemoStage

    private static let teamKey = "sk_us_demo"
    private static let tokenLife = 6

    func run() throws {
        act("1. A cloud on loopback, and the daemon that will hold the session")
        let cloud = try stage.startSandbox(tokenLife: Self.tokenLife)
        try stage.write(
            "junctiond.toml",
            """
            [junction]
            authUrl = "\(cloud.origin)"
            apiUrl = "\(cloud.origin)"
            [[access]]
            allow = ["token"]
            unit = "\(stage.service)"

            """
        )
        try stage.startDaemon(until: "signed-out")
        line("The cloud is \(cloud.origin), the socket is \(stage.socket).")

        act("2. Your backend creates a user and asks for a Sign-In Token (the team key never leaves it)")
        let user = try makeUser(cloud)
        let token = try signInToken(of: user, cloud)
        line("User \(user) has a Sign-In Token of \(token.utf8.count) bytes.")

        act("3. Sign in once")
        try show("sign-in", given: token)

        act("4. Two local apps share the one session")
        line("The sync app takes an access token and calls the API itself:")
        let accessToken = try stage.ctl("token").trimmed
        let answer = try cloud.send("GET", "/v2/user/\(user)", headers: ["Authorization": "Bearer \(accessToken)"])
        line("  " + answer.prefix(110))
        line("The kiosk app never sees a token; the daemon makes the call:")
        try show("api", "GET", "/v2/user/providers/\(user)")
        try show("status")

        act("5. A systemd service gets the token as a file, by LoadCredential=")
        if let reason = DemoStage.reasonForNoService {
            line("Skipped: \(reason).")
        } else {
            let size = try stage.runService(
                loading: "access-token",
                "wc -c <\"$CREDENTIALS_DIRECTORY/access-token\""
            ).trimmed
            guard let size = Int(size), size > 0 else { throw DemoFailure("\(stage.service) got no token") }
            line("\(stage.service), with a user of its own and no client of the daemon, has a token of \(size) bytes.")
        }

        act("6. A watcher sees the token being renewed (it lives for \(Self.tokenLife) s here)")
        let before = try generation()
        let after = try stage.watch { Self.generation(in: $0) ?? 0 > before }
        line("Generation \(before) became generation \(Self.generation(in: after) ?? 0); nobody had to ask.")

        act("7. The daemon is killed (SIGKILL), the network is gone, and the user is still signed in")
        stage.killDaemon()
        stage.stopSandbox()
        try stage.startDaemon(until: "signed-in")
        try show("status")
        guard try stage.ctl("--json", "status").contains("\"userId\":\"\(user)\"") else {
            throw DemoFailure("somebody else is signed in")
        }

        act("8. The network comes back, and so does a fresh token")
        _ = try stage.startSandbox(tokenLife: Self.tokenLife, port: cloud.port)
        if (try? stage.ctl("renew")) == nil { _ = try stage.ctl("wait", "--for", "fresh", "--timeout", "20") }
        try show("status")

        act("9. Sign out")
        try show("sign-out")
        guard try stage.run("status").status == 3 else { throw DemoFailure("somebody is still signed in") }
        try stage.endDaemon()
        stage.stopSandbox()
        say("\nThat is the whole job. Nothing is left running.", to: STDOUT_FILENO)
    }

    // MARK: What a backend does

    private func makeUser(_ cloud: LoopbackClient) throws -> String {
        struct Made: Decodable { let userId: String }
        return try cloud.ask(Made.self, "/v2/user", key: Self.teamKey, body: #"{"client_user_id":"alice"}"#).userId
    }

    private func signInToken(of user: String, _ cloud: LoopbackClient) throws -> String {
        struct Made: Decodable { let signInToken: String }
        return try cloud.ask(Made.self, "/v2/user/\(user)/sign_in_token", key: Self.teamKey, body: "").signInToken
    }

    // MARK: Session state

    private func generation() throws -> Int {
        guard let generation = Self.generation(in: try stage.ctl("--json", "status")) else {
            throw DemoFailure("the session has no token")
        }
        return generation
    }

    private static func generation(in snapshot: String) -> Int? {
        guard let found = snapshot.firstRange(of: "\"generation\":") else { return nil }
        return Int(snapshot[found.upperBound...].prefix { $0.isNumber })
    }

    // MARK: Output

    private func act(_ title: String) {
        let isForPeople = isatty(STDOUT_FILENO) == 1
        say(isForPeople ? "\n\u{1B}[1m\(title)\u{1B}[0m" : "\n\(title)", to: STDOUT_FILENO)
    }

    private func line(_ text: String) { say("  " + text, to: STDOUT_FILENO) }

    /// Prints a command as a user types it, and its output.
    private func show(_ arguments: String..., given: String? = nil) throws {
        line("$ junctionctl \(arguments.joined(separator: " "))")
        let said = try stage.ctl(arguments, given: given)
        for text in said.trimmed.split(separator: "\n", omittingEmptySubsequences: false) { line("  " + text) }
    }
}

extension String {
    var trimmed: String { String(drop { $0.isWhitespace }.reversed().drop { $0.isWhitespace }.reversed()) }
}
