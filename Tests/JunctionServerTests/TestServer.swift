import Dispatch
import Foundation
import JunctionProtocol
import JunctionServer
import JunctionSession
import JunctionTesting
import NIOCore
import NIOPosix
import Synchronization

/// A complete server on a real socket in a temporary directory, with a real owner, a scripted provider and a test
/// clock.
final class TestServer: Sendable {
    /// Other users must have access to the socket.
    let folder = TemporaryFolder(mode: 0o755)
    let clock = ManualClock()
    let provider: FakeProvider
    let store: InMemoryStore
    let introspection = TestIntrospection()
    let audit = Audit()
    let server: SessionServer
    let owner: SessionOwner
    let loop: any EventLoop
    private let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)

    var path: String { folder.path + "/socket" }

    /// - Parameters:
    ///   - policy: by default, the user that runs the tests has every capability.
    ///   - store: the stored state of an earlier process.
    init(
        _ policy: AccessPolicy = .own,
        limits: CallerLimits = CallerLimits(),
        exposesApi: Bool = true,
        callsPerMinute: Int = 60,
        rules: RenewalRules = RenewalRules(),
        store: InMemoryStore = InMemoryStore(),
        timeouts: ServerSettings.Timeouts = .init(),
        mode: UInt32 = 0o600,
        unitOfProcess: @escaping @Sendable (Int32) throws -> String? = { _ in nil }
    ) throws {
        var settings = ServerSettings(policy: policy)
        (settings.limits, settings.timeouts) = (limits, timeouts)
        (settings.exposesApi, settings.unitOfProcess) = (exposesApi, unitOfProcess)
        let loop = group.next()
        let provider = FakeProvider(clock: clock)
        let owner = SessionOwner(
            provider: provider,
            store: store,
            clock: clock,
            alarm: RecordingAlarm(),
            observer: RecordingObserver(),
            executor: loop.executor,
            tasks: LoopExecutor(loop),
            rules: rules,
            callsPerMinute: callsPerMinute,
            seed: 1
        )
        self.provider = provider
        self.store = store
        self.owner = owner
        self.loop = loop
        server = try loop.submit { [introspection, audit, settings] in
            let server = SessionServer(
                owner: owner,
                introspection: introspection,
                observer: audit,
                settings: settings,
                eventLoop: loop
            )
            owner.assumeIsolated { owner in
                owner.watch { server.changed($0) }
                owner.start(with: store.restore()) { server.mayManage($0) }
            }
            return server
        }.wait()
        let socket = try ListeningSocket(creatingAt: path)
        chmod(path, mode)
        try loop.flatSubmit { [server] in server.start(on: socket) }.wait()
    }

    deinit {
        try? drain().wait()
        try? group.syncShutdownGracefully()
    }

    /// Opens a further socket for every user, unless it is open, and returns its path.
    func openSocket(speaking language: SessionServer.ApplicationProtocol) throws -> String {
        let path = folder.path + "/\(language)"
        if access(path, F_OK) != 0 {
            let socket = try ListeningSocket(creatingAt: path)
            chmod(path, 0o666)
            try loop.flatSubmit { [server] in server.start(on: socket, speaking: language) }.wait()
        }
        return path
    }

    func connectHTTP() throws -> HTTPTestClient { try HTTPTestClient(.path(openSocket(speaking: .http)), to: self) }

    /// Connects to the HTTP socket after a user was signed in.
    func connectHTTPSignedIn(as user: String = "alice") throws -> HTTPTestClient {
        _ = try connectSignedIn(as: user)
        return try connectHTTP()
    }

    func connect() throws -> TestClient { try TestClient(path, of: self) }

    /// Connects after a user was signed in.
    func connectSignedIn(as user: String = "alice") throws -> TestClient {
        let client = try connect()
        _ = try client.result(of: "session.signIn", #"{"scheme":"signInToken","token":"\#(user)"}"#)
        return client
    }

    /// Connects, and sends a sign-in that the provider delays until `provider.release()`. Returns when it is delayed.
    func signInHeld() throws -> TestClient {
        let isHeld = DispatchSemaphore(value: 0)
        provider.hold { isHeld.signal() }
        let client = try connect()
        try client.sendLine(
            #"{"jsonrpc":"2.0","id":1,"method":"session.signIn","params":{"scheme":"signInToken","token":"alice"}}"#
        )
        isHeld.wait()
        return client
    }

    /// Runs `body` on the event loop, between two requests.
    func onLoop<Value: Sendable>(_ body: @escaping @Sendable () -> Value) throws -> Value {
        try loop.submit(body).wait()
    }

    /// Blocks the event loop, so that nothing is accepted or read, until the returned semaphore is signaled.
    func holdLoop() -> DispatchSemaphore {
        let (held, release) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
        loop.execute {
            held.signal()
            release.wait()
        }
        held.wait()
        return release
    }

    /// Loads a configuration with this policy.
    func reload(_ policy: AccessPolicy) throws {
        try onLoop { [server] in server.reload(policy: policy, exposesApi: true) }
    }

    func drain() -> EventLoopFuture<Void> { loop.flatSubmit { [server] in server.drain() } }

    /// Advances the clock, and carries out all work that is due.
    func pass(_ duration: Duration) throws {
        clock.advance(by: duration)
        try onLoop { [owner] in owner.assumeIsolated { $0.alarmRang(clockJumped: false) } }
    }

    var counters: ServerCounters {
        get throws { try onLoop { [server] in server.counters } }
    }
}

extension CallerLimits {
    /// Returns the default limits except for one.
    static func with(_ changed: WritableKeyPath<Self, Int>, _ limit: Int) -> Self {
        var limits = Self()
        limits[keyPath: changed] = limit
        return limits
    }
}

extension ServerSettings.Timeouts {
    static let none: Self = {
        var timeouts = Self()
        (timeouts.question, timeouts.linger, timeouts.drain) = (.zero, .zero, .zero)
        return timeouts
    }()

    /// Has no time limit for the drain.
    static let endless = with(\.drain, .seconds(3_600))

    /// Returns the default timeouts except for one.
    static func with<Timeout>(_ changed: WritableKeyPath<Self, Timeout>, _ timeout: Timeout) -> Self {
        var timeouts = Self()
        timeouts[keyPath: changed] = timeout
        return timeouts
    }
}

extension AccessPolicy {
    /// Gives the user that runs the tests every capability.
    static let own = AccessPolicy(rules: [], daemonUser: getuid())
}

final class TestIntrospection: DaemonIntrospection {
    private let told = Mutex(0)
    /// The number of calls of `info`.
    var descriptionsTold: Int { told.withLock { $0 } }

    /// The length of the version, in bytes, which the interface documents contain.
    let versionSize = Mutex(5)

    func info() -> DaemonDescription {
        told.withLock { $0 += 1 }
        return DaemonDescription(
            version: "1.2.3" + String(repeating: "0", count: versionSize.withLock { $0 } - 5),
            provider: "junction",
            pid: 42,
            startedAt: Timestamp(milliseconds: 0),
            uptime: 1.5
        )
    }

    let reloaded = Mutex(Result<[String], WireError>.success([]))
    var pendingRestart: [String] { reloaded.withLock { (try? $0.get()) ?? [] } }
    func reload(_ answer: @escaping @Sendable (Result<[String], WireError>) -> Void) {
        answer(reloaded.withLock { $0 })
    }

    func metricsText(_ counters: ServerCounters) -> String {
        "statuses \(counters.requests(of: .sessionStatus)) watchers \(counters.watchers)\n"
    }

    func diagnose(by user: UInt32, _ counters: ServerCounters, _ answer: @escaping @Sendable (Diagnosis) -> Void) {
        answer(Diagnosis(checks: [.init(name: "socket", verdict: .ok, detail: "It answers")]))
    }
}

/// Records what callers did.
final class Audit: ServerObserver {
    private let state = Mutex<[String]>([])

    var lines: [String] { state.withLock { $0 } }

    func happened(_ act: CallerAct, by peer: Peer?) {
        let what =
            switch act {
            case .tokenHandedOut(let generation): "token \(generation)"
            case .refused(let method, let capability): "refused \(method.name) \(capability.rawValue)"
            case .signedIn: "signed in"
            case .signInRefused(let message): "refused a sign-in: \(message)"
            case .credentialRefused(let name, let message):
                "no \(name ?? "credential") for \(peer?.unit ?? "no unit"): \(message)"
            case .signedOut: "signed out"
            case .turnedAway: "turned away"
            }
        state.withLock { $0.append("\(what) \(peer.map { "\($0.user)" } ?? "?")") }
    }
}
