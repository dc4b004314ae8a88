import Glibc
import JunctionProviders
import JunctionServer
import JunctionSession
import JunctionSystemd
import JunctionVault
import Logging

/// Everything that the daemon needs before it starts: its checked configuration, the open state and the sockets. A start
/// that fails here signs nobody in or out.
struct StartPlan {
    let paths: Paths
    let source: ConfigurationSource
    let validated: ValidatedConfiguration
    let notes: [String]
    let log: DaemonLog
    let notifier: Notifier
    let eventLog: SessionEventLog
    /// The environment, with which a reload reads the configuration.
    let variables: [String: String]
    let policy: AccessPolicy
    let vault: Vault
    let store: VaultWithDescriptorBackup
    let restoration: Restoration
    let socket: ListeningSocket
    /// The socket for HTTP, if there is one.
    let apiSocket: ListeningSocket?
    /// The socket at which the service manager loads credentials for units. Only the service manager can create it.
    let credentialSocket: ListeningSocket?
    let surroundings: DaemonEnvironment

    init(
        _ arguments: Arguments,
        _ environment: ProcessEnvironment,
        _ passed: PassedDescriptors
    ) throws(StartFailure) {
        let service = ServiceEnvironment(variables: environment.variables, processID: environment.processID)
        let loaded: ConfigurationSource.Loaded
        do throws(ConfigurationError) {
            paths = try Paths(arguments, in: environment)
            source = paths.configurationSource(variables: environment.variables)
            loaded = try source.load()
        } catch {
            throw StartFailure(error)
        }
        validated = try ValidatedConfiguration(
            loaded,
            credentials: service.credentialsDirectory,
            variables: environment.variables
        )
        variables = environment.variables

        let refused = ProcessHardening.apply()
        log = try Self.log(level: validated.configuration.log.level, service)
        notifier = Notifier(socket: service.notifySocket)
        let eventLog = SessionEventLog(
            logger: log.logger("session"),
            notifier: notifier,
            crashPoint: CrashPoint(variables: environment.variables)
        )
        self.eventLog = eventLog
        policy = AccessPolicy(rules: validated.rules, daemonUser: getuid())
        notes = validated.notes + refused

        let passedSocket = try Self.listener(.rpc, among: passed.sockets)
        let passedApiSocket = try Self.listener(.api, among: passed.sockets)
        let passedCredentialSocket = try Self.listener(.credentials, among: passed.sockets)
        vault = try StateOpening(directory: paths.stateDirectory, service: service, instance: paths.instance)
            .open { eventLog.reached($0) }
        restoration = vault.restore(considering: passed.copies)
        store = VaultWithDescriptorBackup(vault, notifier, held: passed.copyNames)
        try validated.check(mayHave: restoration.sessionProvider(at: SystemClock().now().wall))
        socket = try Self.socket(passed: passedSocket, path: paths.socket)
        apiSocket = try Self.apiSocket(
            passed: passedApiSocket,
            path: validated.configuration.api.socket,
            beside: socket
        )
        credentialSocket =
            if let passedCredentialSocket { try Self.socket(passed: passedCredentialSocket, path: "") } else { nil }
        surroundings = DaemonEnvironment(
            paths: paths,
            service: service,
            recordWrittenAt: restoration.writtenAt,
            secretFiles: validated.secretFiles,
            socketPath: socket.path,
            isSocketPassed: passedSocket != nil
        )
    }

    private static func log(
        level: Logger.Level,
        _ service: ServiceEnvironment
    ) throws(StartFailure) -> DaemonLog {
        let destination = LogDestination(descriptor: STDERR_FILENO, journalStream: service.journalStream)
        do throws(SystemFailure) {
            return try DaemonLog(to: destination, level: level)
        } catch {
            throw StartFailure(error)
        }
    }

    private static func listener(
        _ name: PassedSockets.Name,
        among passed: PassedSockets
    ) throws(StartFailure) -> Int32? {
        do throws(PassedSocketError) {
            return try passed.listener(name)
        } catch {
            throw StartFailure(.cannotCreate, error.description)
        }
    }

    /// Returns the socket for HTTP, which the service manager passed or the configuration names.
    private static func apiSocket(
        passed: Int32?,
        path: String?,
        beside socket: ListeningSocket
    ) throws(StartFailure) -> ListeningSocket? {
        guard passed != nil || path != nil else { return nil }
        guard passed != nil || path != socket.path else {
            throw StartFailure(
                .configuration,
                "api.socket is the socket for JSON-RPC, \(path ?? ""): HTTP needs one of its own"
            )
        }
        return try self.socket(passed: passed, path: path ?? "")
    }

    private static func socket(passed: Int32?, path: String) throws(StartFailure) -> ListeningSocket {
        if let passed {
            // A copy: if the start fails after this, the passed socket is still open for `RefusedStart`.
            let copy = fcntl(passed, F_DUPFD_CLOEXEC, 3)
            guard copy >= 0 else { throw StartFailure(SystemFailure("copy a passed socket", errno: errno)) }
            return ListeningSocket(adopting: copy)
        }
        do throws(SocketFault) {
            return try ListeningSocket(creatingAt: path)
        } catch {
            throw StartFailure(error)
        }
    }
}

extension Restoration {
    /// Returns the provider of the stored session or incomplete sign-in, if there is one.
    fileprivate func sessionProvider(at now: WallTime) -> String? {
        switch self {
        case .absent: nil
        case .restored(let record, _, _): record.hasLogin(at: now) ? record.provider : nil
        case .unreadable(let unreadable): unreadable.header.flatMap { $0.state == .notLoggedIn ? nil : $0.provider }
        }
    }
}

extension SessionRecord {
    /// Whether the record has a session, or codes that may still be approved. If the clock is certainly wrong, codes do
    /// not count.
    fileprivate func hasLogin(at now: WallTime) -> Bool {
        content != .signedOut || (deviceSignIn.map { writtenAt <= now && now < $0.expiresAt } ?? false)
    }
}

extension Restoration {
    fileprivate var writtenAt: WallTime? {
        switch self {
        case .absent, .unreadable: nil
        case .restored(let record, _, _): record.writtenAt
        }
    }
}
