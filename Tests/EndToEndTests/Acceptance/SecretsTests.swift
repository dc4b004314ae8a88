import Foundation
import JunctionTesting
import Testing

/// Runs many operations at the highest log level and searches every output for secrets.
@Suite struct SecretsTests {
    @Test func `no log, error, process argument or file contains a secret`() throws {
        let installation = try Installation.started(configuration: "[log]\nlevel = \"trace\"")
        let story = try Story(installation)

        try story.tell()
        let environment = try #require(FileManager.default.contents(atPath: "/proc/\(story.process)/environ"))
        let commandLine = try #require(FileManager.default.contents(atPath: "/proc/\(story.process)/cmdline"))
        let files = SecretSearch.found(story.secrets, inFilesBelow: installation.stateDirectory)
        try installation.killDaemon()

        #expect(story.secrets.count >= 10)
        let log = try #require(installation.daemon)
        #expect(log.errors.contains("state"))
        #expect(SecretSearch.found(story.secrets, in: log.errors) == [])
        #expect(!SecretSearch.hasToken(in: log.errors))
        #expect(log.output == "")
        #expect(story.messages.count >= 5)
        let messages = story.messages.joined(separator: "\n")
        #expect(SecretSearch.found(story.secrets, in: messages) == [])
        #expect(!SecretSearch.hasToken(in: messages))
        #expect(SecretSearch.found(story.secrets, in: environment) == [])
        #expect(SecretSearch.found(story.secrets, in: commandLine) == [])
        #expect(files == [])
    }

    @Test func `junctionctl prints a token only if the user asks for one`() throws {
        let installation = try Installation.started()
        let user = try installation.cloud.makeUser()
        let token = try installation.cloud.signInToken(for: user)
        var secrets = [token, try Cloud.jwt(of: token)]

        let signIn = try installation.ctl("sign-in", input: token)
        secrets.append(try #require(try installation.token()))
        let others = try [
            signIn, installation.ctl("status"), installation.ctl("status", "--json"), installation.ctl("renew"),
            installation.ctl("metrics"), installation.ctl("doctor"), installation.ctl("doctor", "--json"),
            installation.ctl("api", "GET", "/v2/user/\(user)"), installation.ctl("sign-in", input: token + "x"),
        ]
        secrets.append(try #require(try installation.token()))
        let asked = try installation.ctl("token")

        #expect(SecretSearch.hasToken(in: asked.output))
        for ending in others {
            #expect(!SecretSearch.hasToken(in: ending.output + ending.errors))
            #expect(SecretSearch.found(secrets, in: ending.output) == [])
            #expect(SecretSearch.found(secrets, in: ending.errors) == [])
        }
        #expect(asked.output == secrets[3] + "\n")
        #expect(asked.errors == "")
    }

    @Test func `the secret search finds a secret`() {
        let secret = "at_0123456789abcdef0123456789abcdef"
        let encoded = Data(secret.utf8).base64EncodedString()

        #expect(SecretSearch.found(["other", secret], in: "level=trace \(secret)\n") == [1])
        #expect(SecretSearch.found([secret], in: "{\"token\":\"\(encoded)\"}") == [0])
        #expect(SecretSearch.hasToken(in: "the token \(secret)"))
        #expect(!SecretSearch.hasToken(in: "start_of_something at_last"))
    }

    @Test func `a setting that contains a secret by mistake is not shown`() throws {
        let folder = TemporaryFolder()
        let file = try folder.write("[log]\nlevel = \"sk_us_secretkey\"\n", to: "junctiond.toml")

        let ending = try Program("junctiond", ["--config", file, "--check-config"], in: folder).wait()

        #expect(ending.status == 78)
        #expect(!ending.errors.contains("sk_us_secretkey"))
    }

    @Test func `the daemon leaves no core dump, and its memory cannot be read`() throws {
        let installation = try Installation.started()
        let process = try #require(installation.daemon?.identifier)

        let limits = try String(contentsOfFile: "/proc/\(process)/limits", encoding: .utf8)
        let core = try #require(limits.split(separator: "\n").first { $0.hasPrefix("Max core file size") })
        #expect(core.split(separator: " ").dropFirst(4).prefix(2) == ["0", "0"])
        // The files in /proc of a process that is not dumpable belong to root.
        let owner = try FileManager.default.attributesOfItem(atPath: "/proc/\(process)/environ")[.ownerAccountID]
        #expect(owner as? Int == 0)
    }

    @Test(.needsOtherUser)
    func `another program of the same user reaches neither the memory nor the connection of junctionctl`() throws {
        let installation = try Installation.started()
        let path = installation.folder.path + "/run/silent"
        let listener = try TestListener(.path(path))
        let other = try OtherUser(installation)
        try other.open(path)
        let program = try other.start(["--socket", path, "status"])
        defer { program.signal(SIGKILL) }

        let connection = listener.accept()

        #expect(connection != nil)
        let owner = try FileManager.default.attributesOfItem(atPath: "/proc/\(program.identifier)/environ")
        #expect(owner[.ownerAccountID] as? Int == 0)
    }
}

/// Performs every operation with secrets on one daemon, both valid and invalid ones.
private final class Story {
    private let installation: Installation
    private let client: RawClient
    let process: pid_t
    private(set) var secrets: [String] = []
    /// All messages of the daemon, except the requested tokens.
    private(set) var messages: [String] = []

    init(_ installation: Installation) throws {
        self.installation = installation
        client = try installation.connect()
        process = installation.daemon?.identifier ?? 0
    }

    func tell() throws {
        let cloud = installation.cloud
        let (alice, bob) = try (cloud.makeUser("alice"), cloud.makeUser("bob"))

        try signIn(token: cloud.signInToken(for: alice, ["forged": true]), isGood: false)
        try signIn(token: "bm90IGEgdG9rZW4gYnV0IGEgc2VjcmV0", isGood: false)
        try signIn(token: cloud.signInToken(for: alice), isGood: true)
        try takeToken()
        try signIn(token: cloud.signInToken(for: bob), isGood: false)
        try renew()
        try cloud.fault(["drop": "after", "times": 1])
        try complain("session.renew")
        try installation.awaitSnapshot { $0.generation == 3 }
        try takeToken()
        try cloud.drive("expire-access-tokens", alice)
        try client.call("api.request", ["method": "GET", "path": "/v2/user/\(alice)"])
        try takeToken()
        try complain("api.request", ["method": "GET", "path": "/v2/user/\(bob)"])
        try cloud.fault(["malformed": true, "times": 1])
        try complain("session.renew")
        try client.call("session.signOut")

        let code = try cloud.linkCode(for: bob)
        secrets.append(code)
        try client.call("session.signIn", ["scheme": "linkCode", "code": code])
        try takeToken()
        try client.call("session.signOut")
        try complain("session.signIn", ["scheme": "linkCode", "code": code])

        secrets.append(Cloud.teamKey)
        try client.call("session.signIn", APIKey.credential(for: bob))
        try client.call("api.request", ["method": "GET", "path": "/v2/user/\(bob)"])
        try complain("token.get")
        // A line that ends in the middle of a secret.
        client.send(#"{"jsonrpc":"2.0","id":1,"method":"session.signIn","params":{"token":""# + Cloud.teamKey)
        messages.append(try client.line() ?? "")
        for method in ["session.status", "daemon.metrics", "daemon.diagnose", "daemon.info"] {
            messages.append("\(try client.call(method))")
        }
    }

    private func signIn(token: String, isGood: Bool) throws {
        secrets.append(token)
        if let jwt = try? Cloud.jwt(of: token) { secrets.append(jwt) }
        let credential = ["scheme": "signInToken", "token": token]
        if isGood {
            messages.append("\(try client.call("session.signIn", credential))")
        } else {
            try complain("session.signIn", credential)
        }
    }

    private func renew() throws {
        messages.append("\(try client.call("session.renew"))")
        try takeToken()
    }

    private func takeToken() throws {
        guard let token = try client.call("token.get").accessToken else {
            throw TestFailure(description: "There is no token")
        }
        secrets.append(token)
    }

    private func complain(_ method: String, _ params: Object? = nil) throws {
        let request = try client.request(method, params)
        let envelope = try client.envelope(of: request)
        guard envelope["error"] != nil else { throw TestFailure(description: "\(method) was no error") }
        messages.append("\(envelope)")
    }
}
