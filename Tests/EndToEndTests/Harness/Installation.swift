import Foundation
import JunctionTesting

/// One installation under test: a sandbox cloud, a daemon, a folder for both.
final class Installation {
    let folder: TemporaryFolder
    let cloud: Cloud
    let socket: String
    let configurationFile: String
    /// May be moved before the daemon starts.
    var stateDirectory: String
    private(set) var daemon: Program?
    var daemonEnvironment: [String: String] = [:]
    /// What the daemon finds at `/etc`, where that is not the machine's own.
    var accounts: MachineAccounts?
    /// Lines that follow the provider's URLs in the configuration.
    var configuration: String
    /// The lines before them; Junction's, unless the test is about another vendor.
    var vendor: (_ cloud: String) -> String = { cloud in
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

    /// An installation whose daemon runs.
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
            \(vendor(cloud.url))

            \(configuration)
            """,
            to: "junctiond.toml"
        )
    }

    /// Starts the daemon and waits until it says that it is ready.
    ///
    /// - Parameter kept: descriptors that the service manager passes it, by name: its socket, or what was kept for it.
    @discardableResult
    func startDaemon(_ environment: [String: String] = [:], kept: [String: Int32] = [:]) throws -> FakeServiceManager {
        let notify = try FakeServiceManager(.path)
        try launchDaemon(environment.merging(["NOTIFY_SOCKET": notify.name]) { $1 }, kept: kept)
        if let daemon { try notify.waitUntilReady(daemon) }
        return notify
    }

    /// Starts the daemon and does not wait for anything.
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
        // A shell knows the number of the process that it becomes.
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

    func killDaemon() throws {
        daemon?.signal(SIGKILL)
        try daemon?.wait()
    }

    /// SIGTERM: the end in good order.
    func stopDaemon() throws {
        daemon?.signal(SIGTERM)
        let ending = try daemon?.wait()
        guard ending?.status == 0 else { throw Program.Failure(description: "The daemon ended with \(ending as Any)") }
    }

    /// SIGKILL, and a new start.
    func restartDaemon(_ environment: [String: String] = [:]) throws {
        try killDaemon()
        try startDaemon(environment)
    }

    /// The service manager's end of socket activation: it stays, whichever process serves it.
    func listen() throws -> TestListener {
        try folder.makeFolder("run")
        return try TestListener(.path(socket))
    }

    // MARK: Callers

    func connect() throws -> RawClient {
        try RawClient(socket)
    }

    /// A connection that gets every snapshot.
    func watch() throws -> RawClient {
        let client = try connect()
        try client.call("session.subscribe")
        return client
    }

    /// The present snapshot if it fits, else the next one that does.
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

    /// Makes a user and signs them in.
    @discardableResult
    func signInNewUser(_ name: String = "alice") throws -> String {
        let user = try cloud.makeUser(name)
        try signIn(user)
        return user
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

    // MARK: The thin client

    /// Runs `junctionctl` to its end.
    func ctl(
        _ arguments: String...,
        input: String? = nil,
        environment: [String: String] = [:]
    ) throws -> Program.Ending {
        try Program("junctionctl", arguments, in: folder, environment: ctlEnvironment(environment), input: input).wait()
    }

    /// Starts `junctionctl`, whose lines are read as they come.
    func talkingCtl(_ arguments: String...) throws -> TalkingProgram {
        try TalkingProgram("junctionctl", arguments, in: folder, environment: ctlEnvironment([:]))
    }

    private func ctlEnvironment(_ more: [String: String]) -> [String: String] {
        ["JUNCTIOND_SOCKET": socket].merging(more) { $1 }
    }

    deinit {
        daemon?.signal(SIGKILL)
    }
}
