import Glibc
package import JunctionProtocol
package import JunctionSession
package import NIOCore
import NIOPosix

/// Serves the session to local programs, over any number of sockets.
///
/// Everything happens on the owner's event loop, and every function is called on it.
package final class SessionServer: Sendable {
    private let eventLoop: any EventLoop
    private let registry: NIOLoopBound<ConnectionRegistry>
    private let listeners: NIOLoopBoundBox<[Listener]>

    package enum ApplicationProtocol: Sendable {
        /// JSON-RPC, one message a line.
        case jsonRPC
        case http
        /// The service manager's protocol for `LoadCredential=`.
        case credentials
    }

    private struct Listener {
        let socket: ListeningSocket
        let channel: any Channel
    }

    /// Makes a server for the session of `owner`.
    ///
    /// - Parameter eventLoop: the loop that is the owner's executor.
    package convenience init(
        owner: SessionOwner,
        introspection: any DaemonIntrospection,
        observer: any ServerObserver,
        settings: ServerSettings,
        eventLoop: any EventLoop
    ) {
        let session = ServedSession(owner: owner, introspection: introspection, observer: observer)
        self.init(Dispatcher(session, settings: settings, eventLoop: eventLoop), settings, eventLoop)
    }

    /// Makes a server that answers each call with `startError`, because the daemon could not start and there is no
    /// session.
    ///
    /// - Parameters:
    ///   - reload: carries out `daemon.reload`, and calls `answer` once, on the event loop.
    ///   - credentialRefused: logs a sentence about a credential that a unit did not get.
    package convenience init(
        startError: WireError,
        settings: ServerSettings,
        eventLoop: any EventLoop,
        reload: @escaping @Sendable (_ answer: @escaping @Sendable (Result<[String], WireError>) -> Void) -> Void,
        credentialRefused: (@Sendable (String) -> Void)? = nil
    ) {
        let dispatcher = Dispatcher(nil, settings: settings, eventLoop: eventLoop)
        dispatcher.startError = startError
        dispatcher.startReload = reload
        dispatcher.startCredentialRefused = credentialRefused
        self.init(dispatcher, settings, eventLoop)
    }

    private init(_ dispatcher: Dispatcher, _ settings: ServerSettings, _ eventLoop: any EventLoop) {
        self.eventLoop = eventLoop
        registry = NIOLoopBound(
            ConnectionRegistry(settings, dispatcher: dispatcher, eventLoop: eventLoop),
            eventLoop: eventLoop
        )
        listeners = NIOLoopBoundBox([], eventLoop: eventLoop)
    }

    /// Starts accepting connections. `drain` closes the socket, and unlinks its file if the daemon created it.
    package func start(on socket: ListeningSocket, speaking applicationProtocol: ApplicationProtocol = .jsonRPC)
        -> EventLoopFuture<Void>
    {
        guard let descriptor = socket.takeDescriptor() else {
            preconditionFailure("A socket was started on twice")
        }
        let (registry, listeners, group) = (registry, listeners, socket.group)
        let bootstrap = ServerBootstrap(group: eventLoop)
            // If there is no free descriptor, accepting pauses instead of looping.
            .serverChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.addHandler(AcceptBackoffHandler())
                }
            }
            .childChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    switch applicationProtocol {
                    case .jsonRPC: try registry.value.admit(channel, socketGroup: group)
                    case .http: try registry.value.admitHTTP(channel, socketGroup: group)
                    case .credentials: try registry.value.admitCredential(channel)
                    }
                }
            }
        return bootstrap.withBoundSocket(descriptor).map { channel in
            // Sets the backlog again, because SwiftNIO listens with its own.
            _ = listen(descriptor, ListeningSocket.backlog)
            listeners.value.append(Listener(socket: socket, channel: channel))
        }
    }

    /// Sends a new snapshot of the owner to the subscribers.
    package func changed(_ snapshot: JunctionSession.Snapshot) {
        let dispatcher = registry.value.dispatcher
        dispatcher.prepared.forgetToken(unless: snapshot.facts.accessToken?.generation)
        let codes = dispatcher.owner.assumeIsolated { $0.codes }
        let news = WireSnapshot(snapshot)
        let withCodes = codes.map { WireSnapshot(snapshot, codes: $0) }
        dispatcher.watchers.announce(news, withCodes: withCodes)
        dispatcher.httpWatchers.announce(news, withCodes: withCodes)
        dispatcher.pendingCredentials.sessionChanged()
    }

    /// Returns whether a program that called before the daemon restarted may manage the session under the present
    /// policy.
    package func mayManage(_ caller: LocalCaller) -> Bool {
        let policy = registry.value.policy
        let dependsOnGroups = caller.user != 0 && caller.user != policy.daemonUser
        return (caller.isComplete || !dependsOnGroups) && policy.rights(of: Peer(caller)).allows(.manage)
    }

    /// Puts the reloadable settings in force, also for open connections.
    package func reload(policy: AccessPolicy, exposesApi: Bool) {
        registry.value.dispatcher.exposesApi = exposesApi
        registry.value.replacePolicy(with: policy)
        registry.value.dispatcher.owner.assumeIsolated { $0.rightsChanged() }
    }

    /// Replaces the error that answers each call if the daemon could not start, also for open connections.
    package func replaceStartError(with error: WireError) { registry.value.dispatcher.startError = error }

    /// Stops accepting, answers what has been received, closes all connections, and closes the sockets.
    package func drain() -> EventLoopFuture<Void> {
        let (registry, listeners) = (registry, listeners)
        let closed = listeners.value.map { $0.channel.close() }
        return EventLoopFuture.andAllComplete(closed, on: eventLoop)
            .flatMap { registry.value.drain() }
            .map {
                for listener in listeners.value { listener.socket.close() }
                listeners.value = []
            }
    }

    /// The counters since the start, with the present watchers and handlers.
    package var counters: ServerCounters { registry.value.dispatcher.tally }
}
