import Foundation
import JunctionTesting

/// An installation under test: a sandbox, a daemon, and a folder for both.
final class Installation {
    let folder: TemporaryFolder
    let cloud: Cloud
    let socket: String
    let configurationFile: String
    /// May be changed before the daemon starts.
    var stateDirectory: String
    private(set) var daemon: Program?
    var daemonEnvironment: [String: String] = [:]
    /// The `/etc` folder of the daemon, if it differs from the machine's.
    var accounts: MachineAccounts?
    /// The lines after the provider's URLs in the configuration.
    var configuration: String
    /// The lines with the provider's URLs. The default is Junction.
    var providerSettings: (_ cloud: String) -> String = { cloud in
        """
        [junction]
        authUrl = "\(cloud)"
        apiUrl = "\(cloud)"
        """
    }

    init(
        accessTokenLifetime: Int = 3_600,
        rotationGrace: Int = 30,
        tls: TestAuthority? = nil,
        configuration: String = "",
        in folder: TemporaryFolder? = nil
    ) throws {
        let folder = folder ?? TemporaryFolder()
        self.folder = folder
        socket = folder.path + "/run/junctiond.sock"
        stateDirectory = folder.path + "/state"
        configurationFile = folder.path + "/junctiond.toml"
        cloud = try Cloud(
            in: folder,
            accessTokenLifetime: accessTokenLifetime,
            rotationGrace: rotationGrace,
            tls: tls
        )
        self.configuration = configuration
    }

    static func started(
        accessTokenLifetime: Int = 3_600,
        rotationGrace: Int = 30,
        configuration: String = ""
    ) throws -> Installation {
        let installation = try Installation(
            accessTokenLifetime: accessTokenLifetime,
            rotationGrace: rotationGrace,
            configuration: configuration
        )
        try installation.startDaemon()
        return installation
    }

    // MARK: The daemon

    var daemonArguments: [String] {
        ["--config", configurationFile, "--socket", socket, "--state-dir", stateDirectory]
    }

    func writeConfiguration() throws {
        _ = try folder.write(
            """
            \(providerSettings(cloud.url))

            \(configuration)
            """,
            to: "junctiond.toml"
        )
    }

    /// Starts the daemon and waits until it is ready.
    ///
    /// - Parameter kept: The descriptors that the service manager passes, by name: the socket, or entries of its
    ///   file-descriptor store.
    @discardableResult
    func startDaemon(_ environment: [String: String] = [:], kept: [String: Int32] = [:]) throws -> FakeServiceManager {
        let notify = try FakeServiceManager(.path)
        try launchDaemon(environment.merging(["NOTIFY_SOCKET": notify.name]) { $1 }, kept: kept)
        if let daemon { try notify.waitUntilReady(daemon) }
        return notify
    }

    func launchDaemon(_ environment: [String: String] = [:], kept: [String: Int32] = [:]) throws {
        try writeConfiguration()
        let environment = daemonEnvironment.merging(environment) { $1 }
        guard !kept.isEmpty else {
            daemon =
                if let accounts {
                    try accounts.junctiond(daemonArguments, in: folder, environment: environment)
                } else {
                    try Program("junctiond", daemonArguments, in: folder, environment: environment)
                }
            return
        }
        // The shell sets LISTEN_PID, because `exec` keeps the process id.
        let passed = kept.sorted { $0.key < $1.key }
        let names = passed.map(\.key).joined(separator: ":")
        let script = "LISTEN_PID=$$ LISTEN_FDS=\(passed.count) LISTEN_FDNAMES=\(names) exec \"$0\" \"$@\""
        daemon = try Program(
            "/bin/sh",
            ["-c", script, Program.path(of: "junctiond")] + daemonArguments,
            in: folder,
            environment: environment,
            passing: passed.map(\.value)
        )
    }

    /// Changes the configuration file. The running daemon does not read it yet.
    func change(_ configuration: String) throws {
        self.configuration = configuration
        try writeConfiguration()
    }

    /// Changes the lines of the provider in the configuration file.
    func changeProvider(_ settings: @escaping (_ cloud: String) -> String) throws {
        providerSettings = settings
        try writeConfiguration()
    }

    /// Runs another daemon with the same configuration to its end.
    func secondDaemon(socket: String, stateDirectory: String) throws -> Program.Ending {
        let arguments = ["--config", configurationFile, "--socket", socket, "--state-dir", stateDirectory]
        return try Program("junctiond", arguments, in: folder).wait()
    }

    func checkConfiguration(environment: [String: String] = [:]) throws -> Program.Ending {
        let arguments = ["--config", configurationFile, "--check-config"]
        return try Program("junctiond", arguments, in: folder, environment: environment).wait()
    }

    func killDaemon() throws {
        daemon?.signal(SIGKILL)
        try daemon?.wait()
    }

    /// Stops the daemon by SIGTERM and waits for its orderly end.
    func stopDaemon() throws {
        daemon?.signal(SIGTERM)
        let ending = try daemon?.wait()
        guard ending?.status == 0 else { throw TestFailure(description: "The daemon ended with \(ending as Any)") }
    }

    /// Kills the daemon by SIGKILL and starts it again.
    func restartDaemon(_ environment: [String: String] = [:]) throws {
        try killDaemon()
        try startDaemon(environment)
    }

    /// Creates the listening socket of the service manager, which survives restarts of the daemon.
    func listen() throws -> TestListener {
        try folder.makeFolder("run")
        return try TestListener(.path(socket))
    }

    // MARK: Callers

    func connect() throws -> RawClient {
        try RawClient(socket)
    }

    /// Opens a connection that receives every snapshot.
    func watch() throws -> RawClient {
        let client = try connect()
        try client.call("session.subscribe")
        return client
    }

    /// Returns the present snapshot if it fits, otherwise waits for one that does.
    @discardableResult
    func awaitSnapshot(_ fits: (Object) -> Bool) throws -> Object {
        let client = try connect()
        let present = try client.call("session.subscribe")
        return fits(present) ? present : try client.awaitSnapshot(fits)
    }

    /// Signs a user in with a new Sign-In Token.
    @discardableResult
    func signIn(_ user: String) throws -> Object {
        try connect().call("session.signIn", try cloud.credential(for: user))
    }

    /// Creates a user, signs the user in, and returns the id.
    @discardableResult
    func signInNewUser(_ name: String = "alice") throws -> String {
        let user = try cloud.makeUser(name)
        try signIn(user)
        return user
    }

    /// Spends a link code of a new user. The second request of the sign-in fails, so the daemon keeps the grant.
    func spendLinkCode(on client: RawClient) throws -> (credential: Object, user: String) {
        let user = try cloud.makeUser()
        let code: Object = ["scheme": "linkCode", "code": try cloud.linkCode(for: user)]
        try cloud.fault(["match": "/v1/token", "status": 503, "times": 1])
        let refusal = try client.refusal("session.signIn", code)
        guard refusal.kind == "providerUnavailable" else {
            throw TestFailure(description: "It answered \(refusal)")
        }
        return (code, user)
    }

    @discardableResult
    func signOut() throws -> Object {
        try connect().call("session.signOut")
    }

    func status() throws -> Object {
        try connect().call("session.status")
    }

    func token() throws -> String? {
        try connect().call("token.get").accessToken
    }

    /// Returns the peak memory use of the daemon's process, in bytes.
    func peakMemory() throws -> Int {
        let status = try String(contentsOfFile: "/proc/\(daemon?.identifier ?? 0)/status", encoding: .utf8)
        guard let kilobytes = status.firstMatch(of: /VmHWM:\s+([0-9]+) kB/).flatMap({ Int($0.1) }) else {
            throw TestFailure(description: "No peak memory: \(status)")
        }
        return kilobytes << 10
    }

    // MARK: junctionctl

    /// Runs `junctionctl` to its end.
    func ctl(_ arguments: String..., input: String? = nil) throws -> Program.Ending {
        try ctl(arguments, input: input)
    }

    func ctl(
        _ arguments: [String],
        input: String? = nil,
        environment: [String: String] = [:]
    ) throws -> Program.Ending {
        let environment = ["JUNCTIOND_SOCKET": socket].merging(environment) { $1 }
        return try Program("junctionctl", arguments, in: folder, environment: environment, input: input).wait()
    }

    /// Starts `junctionctl`. Its output goes to a file.
    func startCtl(_ arguments: [String]) throws -> Program {
        try Program("junctionctl", arguments, in: folder, environment: ["JUNCTIOND_SOCKET": socket])
    }

    /// Starts `junctionctl` and returns the running program.
    func talkingCtl(_ arguments: String...) throws -> RunningProgram {
        try RunningProgram("junctionctl", arguments, in: folder, environment: ["JUNCTIOND_SOCKET": socket])
    }

    deinit {
        daemon?.signal(SIGKILL)
    }
}
