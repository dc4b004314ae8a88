import CLinux
import Dispatch
import Glibc
import JunctionProtocol
import JunctionServer
import JunctionSession
import JunctionSystemd
import JunctionText
import JunctionVault
import NIOCore
import Synchronization

/// The environment of the daemon, for `doctor`.
struct DaemonEnvironment: Sendable {
    var paths: Paths
    var service: ServiceEnvironment
    /// When the record that was found at the start had been written.
    var recordWrittenAt: WallTime?
    /// The files with secrets at the start of the provider. A reload does not change them.
    var secretFiles: [SecretFile]
    var socketPath: String?
    var isSocketPassed: Bool
}

/// Answers requests about the daemon itself: its description, its metrics and its diagnosis.
final class Introspection: DaemonIntrospection {
    private let provider: any IdentityProvider
    private let vault: Vault
    private let owner: SessionOwner
    private let eventLog: SessionEventLog
    private let bootstrap: BootstrapSignIn?
    private let clock: any SessionClock
    private let tasks: any TaskExecutor
    private let loop: any EventLoop
    private let configuration: ConfigurationFile
    private let surroundings: DaemonEnvironment
    private let started: Moment
    private let unmatched: Mutex<[String]>
    private let reloader = Mutex<Reload?>(nil)
    // A private serial queue: Dispatch's global queues start a monitor that wakes the process every second.
    private let queue = DispatchQueue(label: "junctiond.diagnosis")

    /// Reads the configuration again, and answers on the event loop.
    typealias Reload = @Sendable (_ answer: @escaping @Sendable (Result<[String], StartFailure>) -> Void) -> Void

    init(
        provider: any IdentityProvider,
        vault: Vault,
        owner: SessionOwner,
        eventLog: SessionEventLog,
        bootstrap: BootstrapSignIn?,
        clock: any SessionClock,
        tasks: any TaskExecutor,
        loop: any EventLoop,
        configuration: ConfigurationFile,
        surroundings: DaemonEnvironment,
        accessNotes: [String]
    ) {
        self.provider = provider
        self.vault = vault
        self.owner = owner
        self.eventLog = eventLog
        self.bootstrap = bootstrap
        self.clock = clock
        self.tasks = tasks
        self.loop = loop
        self.configuration = configuration
        self.surroundings = surroundings
        unmatched = Mutex(accessNotes)
        started = clock.now()
    }

    func info() -> DaemonDescription {
        DaemonDescription(
            version: Version.number,
            provider: provider.name,
            pid: Int(getpid()),
            startedAt: Timestamp(milliseconds: started.wall.milliseconds),
            uptime: Double(uptime.wholeMilliseconds) / 1_000,
            pendingRestart: pendingRestart
        )
    }

    var pendingRestart: [String] { configuration.pendingRestart }

    /// Connects `daemon.reload` to the daemon, which is created after this object.
    func onReload(_ reload: @escaping Reload) { reloader.withLock { $0 = reload } }

    func reload(_ answer: @escaping @Sendable (Result<[String], WireError>) -> Void) {
        guard let reload = reloader.withLock({ $0 }) else { return answer(.success(pendingRestart)) }
        reload { result in
            answer(
                result.mapError { failure in
                    let message = "The new configuration is refused: \(failure.message)"
                    return WireError(.misconfigured, message, remedy: InstanceName.ofThisProcess.correction)
                }
            )
        }
    }

    func metricsText(_ counters: ServerCounters) -> String {
        eventLog.metrics.text(
            Metrics.Gauges(
                snapshot: owner.assumeIsolated { $0.snapshot },
                counters: counters,
                uptime: uptime,
                residentBytes: ResidentMemory.bytes()
            ),
            of: surroundings.paths.instance
        )
    }

    private var uptime: Duration { clock.now().uptime - started.uptime }

    /// The access entries in force that match no caller. A reload replaces them.
    var accessNotes: [String] {
        get { unmatched.withLock { $0 } }
        set { unmatched.withLock { $0 = newValue } }
    }

    // MARK: Diagnosis

    func diagnose(
        by user: UInt32,
        _ counters: ServerCounters,
        _ answer: @escaping @Sendable (Diagnosis) -> Void
    ) {
        let snapshot = owner.assumeIsolated { $0.snapshot }
        let facts = snapshot.facts
        let (loop, provider, vault, owner) = (loop, provider, vault, owner)
        let identity = facts.userId.map {
            Identity(userId: $0, teamId: facts.teamId, environment: facts.environment, region: facts.region)
        }
        let session = SessionFindings(
            WireSnapshot(snapshot),
            now: Timestamp(milliseconds: clock.now().wall.milliseconds)
        ).checks
        let files = surroundings.secretFiles.compactMap(\.finding)
        let passed = bootstrap?.findings ?? []
        Task(executorPreference: tasks) { [self] in
            let around = await installation(with: facts.sessionProvider).findings
            let findings = files + [socket, serviceManager] + passed
            let far =
                await vault.inspect() + provider.probe(identity) { await owner.providerCallBegan(by: user) }
            // A finding about the storage is left out if the session's checks have the same text.
            let details = session.map(\.detail)
            let others = far.filter { !details.contains($0.detail) }
            let checks = (around + findings).map(Diagnosis.Check.init) + session + others.map(Diagnosis.Check.init)
            loop.execute { answer(Diagnosis(checks: checks)) }
        }
    }

    /// Returns the facts about the installation now. Files and name services may be slow, so this runs on a thread of
    /// its own.
    private func installation(with session: String?) async -> InstallationFacts {
        await withCheckedContinuation { continuation in
            queue.async { [self] in
                let unit = surroundings.service.isUnderServiceManager ? try? CallerUnit.name(ofProcess: getpid()) : nil
                continuation.resume(
                    returning: InstallationFacts(
                        configurationOrigin: configuration.origin,
                        configuration: configuration.standing(with: session),
                        unmatchedAccess: accessNotes,
                        isUnderServiceManager: surroundings.service.isUnderServiceManager,
                        enablement: unit.flatMap { UnitEnablement(of: $0) },
                        stateDirectory: surroundings.paths.stateDirectory,
                        isStateVolatile: clinux_is_volatile(surroundings.paths.stateDirectory) == 1,
                        now: clock.now().wall,
                        recordWrittenAt: surroundings.recordWrittenAt
                    )
                )
            }
        }
    }

    private var socket: ProbeFinding {
        let path = surroundings.socketPath ?? "a socket without a path"
        let origin = surroundings.isSocketPassed ? "passed by the service manager" : "made by the daemon"
        // `socket` is the name of junctionctl's own check.
        return ProbeFinding(name: "listener", verdict: .ok, detail: "\(path), \(origin).")
    }

    private var serviceManager: ProbeFinding {
        let isNotifying = surroundings.service.notifySocket != nil
        guard surroundings.service.isUnderServiceManager || isNotifying else {
            return ProbeFinding(
                name: "service manager",
                verdict: .note,
                detail: "Not run by a service manager: nothing restarts the daemon if it ends."
            )
        }
        var detail = isNotifying ? "Readiness and status are reported" : "No readiness is asked for"
        if let limit = surroundings.service.watchdog {
            detail += "; a watchdog heartbeat comes twice in \(limit.wholeMilliseconds / 1_000) s"
        }
        detail += "."
        return ProbeFinding(name: "service manager", verdict: .ok, detail: detail)
    }
}

extension Diagnosis.Check {
    init(_ finding: ProbeFinding) {
        self.init(name: finding.name, verdict: .init(finding.verdict), detail: finding.detail, remedy: finding.remedy)
    }
}
