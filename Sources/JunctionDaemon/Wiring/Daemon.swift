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

/// The daemon, put together: everything on one event loop, and this thread waits for the end.
package final class Daemon: Sendable {
    private let paths: Paths
    private let configuration: ConfigurationFile
    private let introspection: Introspection
    private let log: DaemonLog
    private let logger: Logger
    private let notifier: Notifier
    private let group: MultiThreadedEventLoopGroup
    private let loop: any EventLoop
    private let bell = AlarmBell()
    private let alarm: RealTimeAlarm
    private let http: OutgoingHttp
    private let news: SessionNews
    private let owner: SessionOwner
    private let server: SessionServer
    private let bootstrap: BootstrapSignIn?
    private let trail: AuditTrail
    private let ended = DispatchSemaphore(value: 0)
    private let isStopping = Mutex(false)

    /// How long an exchange, a renewal or a write under way may hold the end up.
    private static let patience = TimeAmount.seconds(5)

    /// Runs until somebody ends it. Whatever prevents the start is said on standard error.
    package static func run(_ arguments: Arguments, in environment: ProcessEnvironment) -> ExitStatus {
        // Before any other thread exists: threads inherit the mask.
        SignalWatch.holdBack()
        var passed = PassedDescriptors()
        do throws(StartFailure) {
            passed = try PassedDescriptors.take()
            try start(arguments, in: environment, passed).waitUntilEnded()
            return .success
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
            // What was noted stands before what ended it.
            plan.log.close()
            throw error
        }
    }

    // MARK: Putting together

    /// Everything is made in one turn of the event loop, where it lives from then on.
    private static func made(_ plan: StartPlan) throws(StartFailure) -> Daemon {
        let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
        let loop = group.next()
        do {
            return try loop.submit { try Daemon(plan, group, loop) }.wait()
        } catch let failure as StartFailure {
            throw failure
        } catch {
            throw StartFailure(.internal, "The event loop takes no work: \(error)")
        }
    }

    private init(
        _ plan: StartPlan,
        _ group: MultiThreadedEventLoopGroup,
        _ loop: any EventLoop
    ) throws(StartFailure) {
        (self.group, self.loop) = (group, loop)
        (paths, log, notifier) = (plan.paths, plan.log, plan.notifier)
        configuration = ConfigurationFile(plan)
        logger = log.logger("daemon")
        for note in plan.notes { logger.warning("\(note)") }

        do throws(SystemFailure) {
            alarm = try RealTimeAlarm { [bell] in bell.ring($0) }
        } catch {
            throw StartFailure(error)
        }
        let clock = SystemClock()
        http = OutgoingHttp(
            eventLoop: loop,
            courier: plan.paths.courier,
            network: plan.network,
            userAgent: "\(Version.name)/\(Version.number)",
            limits: plan.configuration.network.limits,
            meter: RequestMeter(clock: clock) { [news = plan.news] in news.requestEnded($0) },
            // A renewal leaves the daemon as small as it found it.
            whenIdle: { _ = clinux_return_memory() }
        )
        let house = VendorHouse(
            http: http,
            clock: clock,
            installation: plan.vault.installationId ?? "unknown",
            memory: plan.vault.sequences,
            version: Version.number
        )
        let provider = plan.vendor.provider(in: house)
        news = plan.news
        let tasks = LoopExecutor(loop)
        let owner = SessionOwner(
            provider: provider,
            store: plan.store,
            clock: clock,
            alarm: alarm,
            observer: news,
            executor: loop.executor,
            tasks: tasks,
            rules: plan.configuration.renewalRules,
            callsPerMinute: plan.configuration.limits.sessionCallsPerMinute,
            apiCallsPerMinute: plan.configuration.limits.apiCallsPerMinute,
            seed: .random(in: 0...UInt64.max)
        )
        self.owner = owner
        bootstrap = BootstrapSignIn(
            folder: plan.credentialsDirectory,
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
            news: news,
            bootstrap: bootstrap,
            clock: clock,
            tasks: tasks,
            loop: loop,
            configuration: configuration,
            surroundings: plan.surroundings,
            accessNotes: plan.accessNotes
        )
        let settings = ServerSettings(
            policy: plan.policy,
            limits: CallerLimits(
                connections: plan.configuration.limits.connections,
                inFlight: plan.configuration.limits.inFlight
            ),
            exposesApi: plan.configuration.api.expose,
            unitOfProcess: { try CallerUnit.name(ofProcess: $0) },
            alwaysFindsUnits: plan.surroundings.isUnderServiceManager
        )
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
        // What goes round in a circle is heard by whoever has been made: nothing knows of what comes after it.
        owner.assumeIsolated { owner in owner.watch { server.changed($0) } }
        bell.listen(on: tasks) { await owner.alarmRang(clockJumped: $0 == .clockSet) }
    }

    /// Loads the session, opens the socket, and says that both are ready.
    private func open(_ plan: StartPlan) throws(StartFailure) {
        let (restoration, isDurable) = (plan.restoration, plan.vault.isDurable)
        let (owner, server, socket, door) = (owner, server, plan.socket, plan.door)
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
        if let door { try open(door) }
        news.tellReady(facts)
        if let limit = plan.watchdog { Watchdog.begin(on: loop, limit: limit) { [notifier] in notifier.tell(.alive) } }
        logger.notice(
            "Ready",
            metadata: .of(
                .started,
                [
                    .version: "\(Version.number)", .pid: "\(getpid())",
                    .provider: "\(plan.configuration.provider.rawValue)",
                    .socket: "\(plan.socket.path ?? "passed")", .stateDirectory: "\(paths.stateDirectory)",
                    .state: "\(facts.state.rawValue)",
                ]
            )
        )
        if let bootstrap { loop.execute { bootstrap.start() } }
    }

    /// Speaks HTTP there.
    private func open(_ door: ListeningSocket) throws(StartFailure) {
        do {
            try loop.flatSubmit { [server] in server.start(on: door, speaking: .http) }.wait()
        } catch {
            throw StartFailure(.cannotCreate, "The socket \(door.path ?? "for HTTP") cannot be served: \(error)")
        }
        logger.notice("HTTP is spoken, too", metadata: .of(nil, [.socket: "\(door.path ?? "passed")"]))
    }

    private func waitUntilEnded() throws(StartFailure) {
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
        ended.wait()
        watch.shutDown()
        alarm.shutDown()
        bell.fallSilent()
        trail.close()
        try? group.syncShutdownGracefully()
        logger.notice("Ended", metadata: .of(.stopping))
        log.close()
    }

    // MARK: What signals ask for

    /// Answers what was received, lets what is under way end, and closes. Asked twice, it does so once.
    private func stop() {
        let isFirst = isStopping.withLock { isStopping in
            defer { isStopping = true }
            return !isStopping
        }
        guard isFirst else { return }
        logger.notice("Stopping", metadata: .of(.stopping))
        notifier.tell(.stopping, .status("Stopping"))
        let (loop, server, http, ended) = (loop, server, http, ended)
        let deadline = NIODeadline.now() + Self.patience
        loop.flatSubmit { server.drain() }
            .flatMap { _ in self.quiet(until: deadline) }
            .flatMap { _ in loop.makeFutureWithTask { await http.shutdown() } }
            .whenComplete { _ in ended.signal() }
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

    /// Reads the configuration again. An invalid one is refused, and the old one stays in force.
    private func reload() {
        guard !isStopping.withLock({ $0 }) else { return }
        notifier.tell(.reloading(atMonotonicMicroseconds: ServiceNews.monotonicMicroseconds()))
        do throws(StartFailure) {
            try apply(try configuration.sound())
            // Whatever was said of an earlier file is not true any more.
            news.repeatStatus()
        } catch {
            logger.error(
                "The configuration was not reloaded; the old one stays in force",
                metadata: .of(nil, [.error: "\(error.message)"])
            )
            notifier.tell(.status("The new configuration is refused, the old one is in force: \(error.message)"))
        }
        notifier.tell(.ready)
    }

    private func apply(_ sound: SoundConfiguration) throws(StartFailure) {
        let new = sound.configuration
        let policy = AccessPolicy(rules: sound.rules, daemonUser: getuid())
        let (server, introspection, owner) = (server, introspection, owner)
        // Whoever is told READY must meet the new rules. Nobody can sign in between the question and them.
        let taken = loop.submit { () -> Result<Void, StartFailure> in
            Result { () throws(StartFailure) in
                try sound.check(mayHave: owner.assumeIsolated { $0.snapshot.facts.sessionProvider })
                server.reload(policy: policy, exposesApi: new.api.expose)
            }
        }
        try (try? taken.wait())?.get()
        for note in sound.notes { logger.warning("\(note)") }
        log.level = new.log.level
        let isWholeInForce = configuration.reloaded(sound)
        introspection.accessNotes = sound.accessNotes
        // The service manager may have passed other credentials with the reload.
        if let bootstrap { loop.execute { bootstrap.reloaded() } }
        if !isWholeInForce {
            logger.warning("Changes outside access, api.expose and log take effect after a restart")
        }
        let origin = sound.origin
        logger.notice(
            "The configuration was reloaded",
            metadata: .of(
                .reloaded,
                [.configuration: "\(origin.exists ? origin.path : "built-in defaults")\(origin.andFragments)"]
            )
        )
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

extension Snapshot.Facts {
    /// Whose session there is, if there is one or is about to be: what a restart would find.
    var sessionProvider: String? { state == .notLoggedIn && flags.isEmpty ? nil : provider }
}
