import Glibc
import JunctionProtocol
import JunctionServer
import JunctionSession
import JunctionVault
import NIOCore
import Synchronization

/// What the daemon runs in, for `doctor`.
struct Surroundings: Sendable {
    var configurationFile: String?
    /// What the provider was started with; a reload changes nothing about it.
    var secretFiles: [SecretFile]
    var socketPath: String?
    var isSocketPassed: Bool
    var isNotifying: Bool
    var isUnderServiceManager: Bool
    /// How long the service manager waits for a sign of life, if it does.
    var watchdog: Duration?
}

/// Tells about the daemon around the session: what it is, what it has counted, how it is doing.
final class Introspection: DaemonIntrospection {
    private let provider: any IdentityProvider
    private let vault: Vault
    private let owner: SessionOwner
    private let news: SessionNews
    /// What signs in with a credential of the service manager, if there is one.
    private let provisioning: Provisioning?
    private let clock: any SessionClock
    private let tasks: any TaskExecutor
    private let loop: any EventLoop
    private let surroundings: Surroundings
    private let started: Moment
    private let unmatched: Mutex<[String]>

    init(
        provider: any IdentityProvider,
        vault: Vault,
        owner: SessionOwner,
        news: SessionNews,
        provisioning: Provisioning?,
        clock: any SessionClock,
        tasks: any TaskExecutor,
        loop: any EventLoop,
        surroundings: Surroundings,
        accessNotes: [String]
    ) {
        self.provider = provider
        self.vault = vault
        self.owner = owner
        self.news = news
        self.provisioning = provisioning
        self.clock = clock
        self.tasks = tasks
        self.loop = loop
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
            uptime: Double(uptime.wholeMilliseconds) / 1_000
        )
    }

    func metricsText(_ counters: ServerCounters) -> String {
        news.metrics.text(
            Metrics.Gauges(
                snapshot: owner.assumeIsolated { $0.snapshot },
                counters: counters,
                uptime: uptime,
                residentBytes: ResidentMemory.bytes()
            )
        )
    }

    func discoveryDocument() -> [UInt8] {
        OpenRPCDocument(version: Version.number).json()
    }

    private var uptime: Duration { clock.now().uptime - started.uptime }

    /// Which access entries match nobody, in the configuration that is in force; a reload replaces them.
    var accessNotes: [String] {
        get { unmatched.withLock { $0 } }
        set { unmatched.withLock { $0 = newValue } }
    }

    // MARK: Diagnosis

    func diagnose(by user: UInt32, _ answer: @escaping @Sendable (Diagnosis) -> Void) {
        let facts = owner.assumeIsolated { $0.snapshot.facts }
        let (loop, provider, vault, owner) = (loop, provider, vault, owner)
        let identity = facts.userId.map {
            Identity(userId: $0, teamId: facts.teamId, environment: facts.environment, region: facts.region)
        }
        let files = surroundings.secretFiles.compactMap(\.finding)
        let passed = provisioning?.findings ?? []
        let near = [configuration] + files + access + [socket, session(facts)] + passed + [wallClock, serviceManager]
        Task(executorPreference: tasks) {
            let findings =
                await near + vault.inspect()
                + provider.probe(identity) { await owner.providerCallBegan(by: user) }
            loop.execute { answer(Diagnosis(checks: findings.map(Diagnosis.Check.init))) }
        }
    }

    private var configuration: ProbeFinding {
        let defaults = "There is no file: the built-in defaults are in force."
        let detail = surroundings.configurationFile.map { "\($0) is in force." } ?? defaults
        return ProbeFinding(name: "configuration", verdict: .ok, detail: detail)
    }

    private var access: [ProbeFinding] {
        accessNotes.map { note in
            let remedy = "Create the account, or correct the entry; without it nobody is allowed what it says."
            return ProbeFinding(name: "access", verdict: .problem, detail: note + ".", remedy: remedy)
        }
    }

    private var socket: ProbeFinding {
        let path = surroundings.socketPath ?? "a socket without a path"
        let origin = surroundings.isSocketPassed ? "passed by the service manager" : "made by the daemon"
        return ProbeFinding(name: "socket", verdict: .ok, detail: "\(path), \(origin).")
    }

    private func session(_ facts: JunctionSession.Snapshot.Facts) -> ProbeFinding {
        let text = StatusLine.text(for: facts) + "."
        if facts.flags.contains(.pendingReauthentication) {
            let remedy = "Sign in again with a new credential for the same user."
            return ProbeFinding(name: "session", verdict: .problem, detail: text, remedy: remedy)
        }
        if let error = facts.renewal.lastError {
            return ProbeFinding(name: "session", verdict: .note, detail: text + " Last error: " + error)
        }
        return ProbeFinding(name: "session", verdict: .ok, detail: text)
    }

    /// A device without a clock battery starts in the past; tokens cannot be judged there.
    private var wallClock: ProbeFinding {
        let releaseYear = WallTime(milliseconds: 1_767_225_600_000)
        guard clock.now().wall < releaseYear else {
            return ProbeFinding(name: "clock", verdict: .ok, detail: "The wall clock is plausible.")
        }
        return ProbeFinding(
            name: "clock",
            verdict: .problem,
            detail: "The wall clock is before 2026, before this program was made.",
            remedy: "Set the time, or enable a time service such as systemd-timesyncd."
        )
    }

    private var serviceManager: ProbeFinding {
        guard surroundings.isUnderServiceManager || surroundings.isNotifying else {
            return ProbeFinding(
                name: "service manager",
                verdict: .note,
                detail: "Not run by a service manager: nothing restarts the daemon if it ends."
            )
        }
        var detail = surroundings.isNotifying ? "Readiness and status are reported" : "No readiness is asked for"
        if let limit = surroundings.watchdog {
            detail += "; a sign of life comes twice in \(limit.wholeMilliseconds / 1_000) s"
        }
        detail += "."
        return ProbeFinding(name: "service manager", verdict: .ok, detail: detail)
    }
}

extension Diagnosis.Check {
    fileprivate init(_ finding: ProbeFinding) {
        let verdict: Diagnosis.Verdict =
            switch finding.verdict {
            case .ok: .ok
            case .note: .note
            case .problem: .problem
            }
        self.init(name: finding.name, verdict: verdict, detail: finding.detail, remedy: finding.remedy)
    }
}
