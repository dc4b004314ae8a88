import Dispatch
import Glibc
import JunctionProtocol
import JunctionServer
import JunctionSystemd
import JunctionText
import NIOCore
import NIOPosix

/// Runs in place of a daemon whose configuration is refused, and answers every call at the passed sockets with the
/// reason.
///
/// It runs in two cases. In the first, a client waits at a socket: the service manager would start the failing daemon
/// over and over for that client. In the second, the service manager keeps a copy of a record that could not be written
/// to disk: a failed start would make it drop that copy. In all other cases (a boot, `systemctl restart`) the start
/// fails, and the caller sees the failure.
///
/// It reads and changes nothing of the session, and sends the service manager nothing about the kept copies. After a
/// reload that finds the configuration valid, the process ends. The service manager then starts the daemon anew and
/// passes it the same descriptors.
struct RefusedStart {
    private let failure: StartFailure
    private let listeners: [Listener]
    private let arguments: Arguments
    private let environment: ProcessEnvironment
    private let service: ServiceEnvironment

    /// A passed socket, and its protocol.
    private struct Listener {
        var descriptor: Int32
        var applicationProtocol: SessionServer.ApplicationProtocol

        init?(_ name: PassedSockets.Name, among passed: PassedSockets) {
            guard let descriptor = try? passed.listener(name) else { return nil }
            self.descriptor = descriptor
            applicationProtocol =
                switch name {
                case .rpc: .jsonRPC
                case .api: .http
                case .credentials: .credentials
                }
        }

        var isWaitedAt: Bool {
            var waited = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
            return poll(&waited, 1, 0) > 0
        }
    }

    /// How long the process stays after a reload that found the configuration valid. If it ended before the service
    /// manager has seen the end of `ExecReload=`, the reload would be reported as failed.
    private static let timeForReload = DispatchTimeInterval.seconds(2)

    /// Returns nil if there is no reason to stay.
    init?(
        _ failure: StartFailure,
        _ passed: PassedDescriptors,
        _ arguments: Arguments,
        _ environment: ProcessEnvironment
    ) {
        let listeners = PassedSockets.Name.allCases.compactMap { Listener($0, among: passed.sockets) }
        let isNeeded = listeners.contains(where: \.isWaitedAt) || !passed.copyNames.isEmpty
        guard failure.status == .configuration, isNeeded else { return nil }
        (self.failure, self.listeners) = (failure, listeners)
        (self.arguments, self.environment) = (arguments, environment)
        service = ServiceEnvironment(variables: environment.variables, processID: environment.processID)
    }

    /// Answers until a signal ends it, or until a reload finds the configuration valid.
    ///
    /// - Returns: `success` after a signal; after such a reload `temporary`, with which the service manager starts the
    ///   daemon anew.
    func serve() -> ExitStatus {
        _ = ProcessHardening.apply()
        let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
        let loop = group.next()
        let remedy = failureNow() == nil ? Self.remedyBesideTheFile : InstanceName.ofThisProcess.correction
        let notifier = Notifier(socket: service.notifySocket)
        let ended = DispatchSemaphore(value: 0)
        let signals = Signals()
        let start = Self.error(failure, remedy: remedy)
        guard
            let server = try? startServer(
                on: loop,
                answering: start,
                reload: { answer in
                    signals.received(.reload, answer)
                    ended.signal()
                }
            ),
            let watch = try? SignalWatch(calling: { signal in
                signals.received(signal)
                ended.signal()
            })
        else { return failure.status }
        defer { watch.shutDown() }
        notifier.tell(.ready, .status(Self.status(failure)))
        if let limit = service.watchdog { Watchdog.begin(on: loop, limit: limit) { notifier.tell(.alive) } }
        while true {
            ended.wait()
            guard let next = signals.next(), next.signal == .reload else { break }
            notifier.tell(.reloading(atMonotonicMicroseconds: ServiceManagerMessage.monotonicMicroseconds()))
            guard let failure = failureNow() else {
                // A client that connects after this waits for the daemon.
                try? loop.flatSubmit {
                    next.answer(.success([]))
                    return server.drain()
                }.wait()
                say(Self.farewell)
                notifier.tell(.ready, .status(Self.farewell))
                guard isEnded(within: Self.timeForReload, ended, signals) else { return .temporary }
                break
            }
            // A client that calls after the reload gets the new reason.
            let error = Self.error(failure)
            try? loop.submit {
                server.replaceStartError(with: error)
                next.answer(.failure(error))
            }.wait()
            say(failure.message)
            notifier.tell(.ready, .status(Self.status(failure)))
        }
        notifier.tell(.stopping)
        try? loop.flatSubmit { server.drain() }.wait()
        return .success
    }

    /// Returns whether a signal asks for the end within this time.
    private func isEnded(within time: DispatchTimeInterval, _ ended: DispatchSemaphore, _ signals: Signals) -> Bool {
        let deadline = DispatchTime.now() + time
        while ended.wait(timeout: deadline) == .success {
            if signals.next()?.signal == .end { return true }
        }
        return false
    }

    /// Starts the daemon's server, without a session, on the passed sockets.
    private func startServer(
        on loop: any EventLoop,
        answering error: WireError,
        reload: @escaping @Sendable (_ answer: @escaping Signals.Answer) -> Void
    ) throws -> SessionServer {
        var settings = ServerSettings(policy: AccessPolicy(rules: [], daemonUser: getuid()))
        (settings.limits.connections, settings.limits.connectionsOfAll) = (64, 256)
        settings.timeouts.connection = .seconds(30)
        let journalStream = environment.variables["JOURNAL_STREAM"]
        let server = try loop.submit { [settings] in
            SessionServer(
                startError: error,
                settings: settings,
                eventLoop: loop,
                reload: reload,
                credentialRefused: { StandardError.say($0, journalStream: journalStream) }
            )
        }.wait()
        for listener in listeners {
            let socket = ListeningSocket(adopting: listener.descriptor)
            try loop.flatSubmit { server.start(on: socket, speaking: listener.applicationProtocol) }.wait()
        }
        return server
    }

    private func say(_ message: String) {
        StandardError.say(message, journalStream: environment.variables["JOURNAL_STREAM"])
    }

    /// Returns why the daemon would not start now, as far as the configuration shows.
    private func failureNow() -> StartFailure? {
        let check = ConfigurationCheck(arguments, in: environment)
        return check.status == .success ? nil : StartFailure(check.status, check.verdict)
    }

    private static func error(
        _ failure: StartFailure,
        remedy: String = InstanceName.ofThisProcess.correction
    ) -> WireError {
        WireError(.misconfigured, "The configuration of junctiond is refused: \(failure.message)", remedy: remedy)
    }

    /// A valid file may still not match the stored session, so the message says what to do.
    private static let remedyBesideTheFile =
        "see 'junctionctl doctor', and then: systemctl restart \(InstanceName.ofThisProcess.unit)"

    private static func status(_ failure: StartFailure) -> String {
        "The configuration is refused, and nobody is served: \(failure.message)"
    }

    private static let farewell =
        "The configuration is in order now. This process ends, and the daemon has to be started anew"
}
