import CLinux
import Dispatch
import Glibc
import JunctionProviders
import JunctionServer
import JunctionSession
import JunctionSystemd
import JunctionVault
import Logging
import NIOCore
import NIOPosix
import Synchronization

/// The running daemon. All parts run on one event loop, and the main thread waits for the end.
package final class Daemon: Sendable {
    private let paths: Paths
    private let configuration: ConfigurationFile
    private let introspection: Introspection
    private let log: DaemonLog
    private let logger: Logger
    private let notifier: Notifier
    private let group: MultiThreadedEventLoopGroup
    private let loop: any EventLoop
    private let alarmSignals = AlarmSignals()
    private let alarm: RealTimeAlarm
    private let http: OutgoingHTTP
    private let eventLog: SessionEventLog
    private let owner: SessionOwner
    private let server: SessionServer
    private let bootstrap: BootstrapSignIn?
    private let trail: AuditTrail
    private let ended = DispatchSemaphore(value: 0)
    private let ending = Mutex<End?>(nil)
    /// Runs reloads one after the other. The queue is private, because Dispatch's global queues start a monitor that wakes
    /// the process every second.
    private let reloadQueue = DispatchQueue(label: "junctiond.reload")

    /// What follows the end of the daemon.
    private enum End {
        case exit
        /// The same process starts the program anew.
        case restart
    }

    /// How long an exchange, a renewal or a write under way may delay the end.
    private static let patience = TimeAmount.seconds(5)

    /// Runs until a signal or a restart in place ends it. If the start fails, standard error gets the reason.
    package static func run(_ arguments: Arguments, in environment: ProcessEnvironment) -> ExitStatus {
        // Before any other thread starts, because threads inherit the mask.
        SignalWatch.blockSignals()
        var passed = PassedDescriptors()
        do throws(StartFailure) {
            passed = try PassedDescriptors.take()
            switch try start(arguments, in: environment, passed).waitUntilEnded() {
            case .exit: return .success
            case .restart: throw StartFailure(RestartInPlace.run(passed, in: environment))
            }
        } catch {
            StandardError.say(error.message, journalStream: environment.variables["JOURNAL_STREAM"])
            return RefusedStart(error, passed, arguments, environment)?.serve() ?? error.status
        }
    }

    private static func start(
        _ arguments: Arguments,
        in environment: ProcessEnvironment,
        _ passed: PassedDescriptors
    ) throws(StartFailure) -> Daemon {
        let plan = try StartPlan(arguments, environment, passed)
        do throws(StartFailure) {
            let daemon = try made(plan)
            try daemon.open(plan)
            return daemon
        } catch {
            // The log lines come before the message about the failure.
            plan.log.close()
            throw error
        }
    }

    // MARK: Putting together

    /// Creates all parts in one turn of the event loop, on which they run.
    private static func made(_ plan: StartPlan) throws(StartFailure) -> Daemon {
        let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
        let loop = group.next()
        do {
            return try loop.submit { try Daemon(plan, group, loop) }.wait()
        } catch let failure as StartFailure {
            throw failure
        } catch {
            throw StartFailure(.internal, "The event loop accepts no tasks: \(error)")
        }
    }

    private init(
        _ plan: StartPlan,
        _ group: MultiThreadedEventLoopGroup,
        _ loop: any EventLoop
    ) throws(StartFailure) {
        (self.group, self.loop) = (group, loop)
        (paths, log, notifier) = (plan.paths, plan.log, plan.notifier)
        configuration = ConfigurationFile(
            plan.source,
            started: plan.validated,
            credentials: plan.surroundings.service.credentialsDirectory,
            variables: plan.variables
        )
        logger = log.logger("daemon")
        for note in plan.notes { logger.warning("\(note)") }

        do throws(SystemFailure) {
            alarm = try RealTimeAlarm { [alarmSignals] in alarmSignals.send($0) }
        } catch {
            throw StartFailure(error)
        }
        let clock = SystemClock()
        http = OutgoingHTTP(
            eventLoop: loop,
            helper: plan.paths.helper,
            network: plan.validated.network,
            userAgent: "\(Version.name)/\(Version.number)",
            limits: plan.validated.configuration.network.limits,
            meter: RequestMeter(clock: clock) { [eventLog = plan.eventLog] in eventLog.requestEnded($0) },
            // Memory use after a renewal is the same as before it.
            whenIdle: { _ = clinux_return_memory() }
        )
        let context = ProviderContext(
            http: http,
            clock: clock,
            installation: plan.vault.installationId ?? "unknown",
            memory: plan.vault.sequences,
            version: Version.number
        )
        let provider = plan.validated.definition.provider(in: context)
        eventLog = plan.eventLog
        let tasks = LoopExecutor(loop)
        let owner = SessionOwner(
            provider: provider,
            store: plan.store,
            clock: clock,
            alarm: alarm,
            observer: eventLog,
            executor: loop.executor,
            tasks: tasks,
            rules: plan.validated.configuration.renewalRules,
            callsPerMinute: plan.validated.configuration.limits.sessionCallsPerMinute,
            apiCallsPerMinute: plan.validated.configuration.limits.apiCallsPerMinute,
            seed: .random(in: 0...UInt64.max)
        )
        self.owner = owner
        bootstrap = BootstrapSignIn(
            folder: plan.surroundings.service.credentialsDirectory,
            owner: owner,
            vault: plan.vault,
            loop: loop,
            logger: log.logger("bootstrap")
        )
        NetworkWatch.start(on: loop, telling: owner)
        introspection = Introspection(
            provider: provider,
            vault: plan.vault,
            owner: owner,
            eventLog: eventLog,
            bootstrap: bootstrap,
            clock: clock,
            tasks: tasks,
            loop: loop,
            configuration: configuration,
            surroundings: plan.surroundings,
            accessNotes: plan.validated.accessNotes
        )
        var settings = ServerSettings(policy: plan.policy)
        settings.limits.connections = plan.validated.configuration.limits.connections
        settings.limits.inFlight = plan.validated.configuration.limits.inFlight
        settings.exposesApi = plan.validated.configuration.api.expose
        settings.unitOfProcess = { try CallerUnit.name(ofProcess: $0) }
        settings.alwaysFindsUnits = plan.surroundings.service.isUnderServiceManager
        let auditLogger = log.logger("audit")
        trail = AuditTrail(loop) { $0.log(to: auditLogger) }
        let server = SessionServer(
            owner: owner,
            introspection: introspection,
            observer: Audit(logger: auditLogger, trail: trail),
            settings: settings,
            eventLoop: loop
        )
        self.server = server
        // Callbacks are connected after construction, which breaks the dependency cycle.
        owner.assumeIsolated { owner in owner.watch { server.changed($0) } }
        introspection.onReload { [weak self] answer in self?.reload(answer) }
        alarmSignals.listen(on: tasks) { await owner.alarmRang(clockJumped: $0 == .clockSet) }
    }

    /// Loads the session, opens the sockets, and reports that the daemon is ready.
    private func open(_ plan: StartPlan) throws(StartFailure) {
        let (restoration, isDurable) = (plan.restoration, plan.vault.isDurable)
        let (owner, server, socket, apiSocket) = (owner, server, plan.socket, plan.apiSocket)
        let facts: Snapshot.Facts
        do {
            facts = try loop.submit {
                owner.assumeIsolated { owner in
                    owner.start(with: restoration, durable: isDurable, mayManage: { server.mayManage($0) })
                    return owner.snapshot.facts
                }
            }.wait()
            try loop.flatSubmit { server.start(on: socket) }.wait()
        } catch {
            throw StartFailure(.cannotCreate, "The socket \(paths.socket) cannot be served: \(error)")
        }
        if let apiSocket { try open(apiSocket, speaking: .http, "HTTP is served") }
        if let credentialSocket = plan.credentialSocket {
            try open(credentialSocket, speaking: .credentials, "Credentials are served to units")
        }
        eventLog.tellReady(facts)
        if let limit = plan.surroundings.service.watchdog {
            Watchdog.begin(on: loop, limit: limit) { [notifier] in notifier.tell(.alive) }
        }
        logger.notice(
            "Ready",
            metadata: .of(
                .started,
                [
                    .version: "\(Version.number)", .pid: "\(getpid())",
                    .provider: "\(plan.validated.configuration.provider.rawValue)",
                    .socket: "\(plan.socket.path ?? "passed")", .stateDirectory: "\(paths.stateDirectory)",
                    .state: "\(facts.state.rawValue)",
                ]
            )
        )
        if let bootstrap { loop.execute { bootstrap.start() } }
        // The start used ten times as much stack as the requests do.
        loop.execute { _ = clinux_return_memory() }
    }

    private func open(
        _ socket: ListeningSocket,
        speaking applicationProtocol: SessionServer.ApplicationProtocol,
        _ message: Logger.Message
    ) throws(StartFailure) {
        do {
            try loop.flatSubmit { [server] in server.start(on: socket, speaking: applicationProtocol) }.wait()
        } catch {
            throw StartFailure(.cannotCreate, "The socket \(socket.path ?? "passed") cannot be served: \(error)")
        }
        logger.notice(message, metadata: .of(nil, [.socket: "\(socket.path ?? "passed")"]))
    }

    private func waitUntilEnded() throws(StartFailure) -> End {
        let watch: SignalWatch
        do throws(SystemFailure) {
            watch = try SignalWatch { [unowned self] signal in
                switch signal {
                case .end: stop()
                case .reload: reload()
                }
            }
        } catch {
            throw StartFailure(error)
        }
        _ = clinux_return_memory()
        ended.wait()
        watch.shutDown()
        alarm.shutDown()
        alarmSignals.finish()
        trail.close()
        try? group.syncShutdownGracefully()
        logger.notice("Ended", metadata: .of(.stopping))
        log.close()
        return ending.withLock { $0 } ?? .exit
    }

    // MARK: What signals ask for

    /// Ends the daemon, even if it was about to start anew. It does not wait for a reload, which may wait for a file or a name
    /// service.
    private func stop() {
        let before = ending.withLock { ending in
            defer { ending = .exit }
            return ending
        }
        guard before != .exit else { return }
        logger.notice("Stopping", metadata: .of(.stopping))
        notifier.tell(.stopping, .status("Stopping"))
        if before == nil { close() }
    }

    /// Answers the requests that were received, waits for the work under way, and closes. Called once.
    ///
    /// - Parameter first: runs before that, in the same turn of the event loop.
    private func close(after first: @escaping @Sendable () -> Void = {}) {
        let (loop, server, http, ended) = (loop, server, http, ended)
        let deadline = NIODeadline.now() + Self.patience
        let drained = loop.flatSubmit {
            first()
            return server.drain()
        }
        drained.flatMap { _ in self.quiet(until: deadline) }
            .map { _ in self.logUnconfirmedRevocations() }
            .flatMap { _ in loop.makeFutureWithTask { await http.shutdown() } }
            .whenComplete { _ in ended.signal() }
    }

    /// Logs the ended sessions and unused grants that the provider has not revoked. They are only in memory, so no later
    /// process revokes them.
    private func logUnconfirmedRevocations() {
        let count = owner.assumeIsolated { $0.unconfirmedRevocations }
        guard count > 0 else { return }
        logger.warning(
            "The provider has not confirmed the revocation of ended sessions or unused grants, and the daemon ends",
            metadata: .of(.stopping, [.count: "\(count)"])
        )
    }

    private func quiet(until deadline: NIODeadline) -> EventLoopFuture<Void> {
        let promise = loop.makePromise(of: Void.self)
        let end = loop.scheduleTask(deadline: deadline) { [logger] in
            logger.warning("Ending without the provider's answer to a request", metadata: .of(.stopping))
            promise.succeed()
        }
        owner.assumeIsolated { owner in
            owner.whenQuiet {
                end.cancel()
                promise.succeed()
            }
        }
        return promise.futureResult
    }

    /// Reads the configuration again, and answers on the event loop.
    private func reload(_ answer: @escaping @Sendable (Result<[String], StartFailure>) -> Void = { _ in }) {
        let reload = ConfigurationReload(
            configuration: configuration,
            introspection: introspection,
            log: log,
            notifier: notifier,
            eventLog: eventLog,
            owner: owner,
            server: server,
            bootstrap: bootstrap,
            loop: loop
        )
        reloadQueue.async { [weak self, loop] in
            guard let self, ending.withLock({ $0 }) == nil else {
                return loop.execute { answer(.failure(StartFailure(.temporary, "the daemon is stopping"))) }
            }
            do throws(StartFailure) {
                switch try reload.run() {
                case .inForce(let pending): loop.execute { answer(.success(pending)) }
                case .startsAnew:
                    let isEnding = ending.withLock { ending in
                        defer { ending = ending ?? .restart }
                        return ending != nil
                    }
                    guard !isEnding else { return loop.execute { answer(.success([])) } }
                    // After this turn, the old program serves no more clients.
                    close { answer(.success([])) }
                }
            } catch {
                loop.execute { answer(.failure(error)) }
            }
        }
    }
}

extension Configuration {
    fileprivate var renewalRules: RenewalRules {
        RenewalRules(
            mode: renewalMode == .handler ? .handler : .automatic,
            handlerTimeout: renewal.handlerTimeout,
            postponement: renewal.postponeFor
        )
    }
}
