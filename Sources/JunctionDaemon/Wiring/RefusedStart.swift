import Dispatch
import Glibc
import JunctionProtocol
import JunctionServer
import JunctionSystemd
import NIOCore
import NIOPosix

/// In the place of a daemon whose configuration is refused, while somebody waits at a socket that was passed: they are told
/// what is wrong, by one process, instead of having the service manager start the daemon for them over and over. Everybody at
/// the other socket is told, too: to the service manager, both belong to the process that runs.
///
/// Nothing of the session is served or changed, and nobody has any right. Without anybody who waits (a boot, `systemctl restart`) there is
/// none of this: the start fails, and whoever asked for it sees that.
struct RefusedStart {
    private let failure: StartFailure
    private let passed: PassedSockets
    private let listeners: [Listener]
    private let arguments: Arguments
    private let environment: ProcessEnvironment
    private let service: ServiceEnvironment

    /// A socket that was passed, and what is spoken there.
    private struct Listener {
        var descriptor: Int32
        var language: SessionServer.Language

        init?(_ name: PassedSockets.Name, among passed: PassedSockets) {
            guard let descriptor = try? passed.listener(name) else { return nil }
            self.descriptor = descriptor
            language =
                switch name {
                case .rpc: .lines
                case .api: .http
                }
        }

        var isWaitedAt: Bool {
            var waited = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
            return poll(&waited, 1, 0) > 0
        }
    }

    /// Nothing, unless somebody waits.
    init?(
        _ failure: StartFailure,
        _ passed: PassedSockets,
        _ arguments: Arguments,
        _ environment: ProcessEnvironment
    ) {
        let listeners = PassedSockets.Name.allCases.compactMap { Listener($0, among: passed) }
        guard failure.status == .configuration, listeners.contains(where: \.isWaitedAt) else { return nil }
        (self.failure, self.passed, self.listeners) = (failure, passed, listeners)
        (self.arguments, self.environment) = (arguments, environment)
        service = ServiceEnvironment(variables: environment.variables, processID: environment.processID)
    }

    /// Answers until somebody ends it, or until the configuration is in order after a reload: then the daemon begins anew, as this
    /// process.
    func serve() -> ExitStatus {
        _ = ProcessHardening.apply()
        let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
        let loop = group.next()
        let remedy = failureNow() == nil ? Self.remedyBesideTheFile : nil
        let server = RefusingServer(Self.error(failure, remedy: remedy), eventLoop: loop)
        let notifier = Notifier(socket: service.notifySocket)
        let ended = DispatchSemaphore(value: 0)
        let signals = Signals()
        guard serve(by: server),
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
            guard signals.next() == .reload else { break }
            notifier.tell(.reloading(atMonotonicMicroseconds: ServiceNews.monotonicMicroseconds()))
            guard let failure = failureNow() else {
                // Whoever has asked for the end meanwhile gets it; what is asked from here on waits for the daemon.
                watch.shutDown()
                guard signals.next(where: { $0 == .end }) == nil else { break }
                beginAnew()
                // Where that cannot be, the service manager starts it anew.
                return .temporary
            }
            // Whoever reads the log and asks then is told the same.
            server.change(to: Self.error(failure))
            StandardError.say(failure.message, journalStream: environment.variables["JOURNAL_STREAM"])
            notifier.tell(.ready, .status(Self.status(failure)))
        }
        notifier.tell(.stopping)
        return .success
    }

    /// On copies of the sockets: what is closed here is not closed for the daemon that comes after.
    private func serve(by server: RefusingServer) -> Bool {
        listeners.allSatisfy { listener in
            let copy = fcntl(listener.descriptor, F_DUPFD_CLOEXEC, 3)
            guard copy >= 0, let socket = try? ListeningSocket(adopting: copy) else { return false }
            return (try? server.start(on: socket, speaking: listener.language).wait()) != nil
        }
    }

    /// Why the daemon would not start now, as far as the configuration tells.
    private func failureNow() -> StartFailure? {
        let check = ConfigurationCheck(arguments, in: environment)
        return check.status == .success ? nil : StartFailure(check.status, check.verdict)
    }

    private static func error(_ failure: StartFailure, remedy: String? = nil) -> WireError {
        WireError(.misconfigured, "The configuration of junctiond is refused: \(failure.message)", remedy: remedy)
    }

    /// A file that is in order by itself may still not be the one for the session that there is: the message says what to do.
    private static let remedyBesideTheFile = "see 'junctionctl doctor', and then: systemctl restart junctiond"

    private static func status(_ failure: StartFailure) -> String {
        "The configuration is refused, and nobody is served: \(failure.message)"
    }

    /// Becomes the program once more, with what the service manager passed to it.
    private func beginAnew() {
        guard let program = environment.executable else { return }
        for descriptor in 3..<3 + Int32(passed.sockets.count) {
            guard fcntl(descriptor, F_SETFD, 0) == 0 else { return }
        }
        let words = CommandLine.arguments.map { strdup($0) } + [nil]
        let variables = environment.variables.map { strdup("\($0.key)=\($0.value)") } + [nil]
        execve(program, words, variables)
        for descriptor in 3..<3 + Int32(passed.sockets.count) { _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC) }
    }
}
