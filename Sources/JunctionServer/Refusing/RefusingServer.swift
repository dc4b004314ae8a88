package import JunctionProtocol
package import NIOCore
import NIOPosix
import Synchronization

/// Serves nobody: whoever connects is answered each call with the same error, whatever they ask.
///
/// It stands where a daemon would that cannot start, and has nothing that one has: no session, no rights, no key.
package final class RefusingServer: Sendable {
    private let eventLoop: any EventLoop
    private let error: Mutex<WireError>
    private let open = Mutex(Open())

    /// What has to be closed at the end.
    private struct Open {
        var listeners: [any Channel] = []
        var connections: [ObjectIdentifier: (user: UInt32, channel: any Channel)] = [:]
        var isStopped = false
    }

    /// Enough for a device full of callers; whoever comes on top of them is closed, and may come again…
    private static let mostConnections = 256
    /// …and no user takes the place of all others.
    private static let mostOfOneUser = 64

    /// - Parameter error: what everybody is told.
    package init(_ error: WireError, eventLoop: any EventLoop) {
        self.error = Mutex(error)
        self.eventLoop = eventLoop
    }

    /// Something else is the matter now.
    package func change(to error: WireError) { self.error.withLock { $0 = error } }

    /// Nobody has a reason to stay.
    private static let patience = TimeAmount.seconds(30)

    /// Begins to answer.
    package func start(
        on socket: ListeningSocket,
        speaking language: SessionServer.Language = .lines
    ) -> EventLoopFuture<Void> {
        guard let descriptor = socket.takeDescriptor() else { preconditionFailure("A socket was started on twice") }
        return ServerBootstrap(group: eventLoop)
            .serverChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.addHandler(AcceptBackoffHandler())
                }
            }
            .childChannelInitializer { [self] channel in
                channel.eventLoop.makeCompletedFuture { try admit(channel, speaking: language) }
            }
            .withBoundSocket(descriptor)
            .map { [self] channel in open.withLock { $0.listeners.append(channel) } }
    }

    /// Closes the sockets and every connection.
    ///
    /// A client that connects after this waits, if the service manager holds the socket too, for the next process that serves it.
    package func stop() -> EventLoopFuture<Void> {
        let channels = open.withLock { open in
            open.isStopped = true
            return open.listeners + open.connections.values.map(\.channel)
        }
        // A channel that has closed by itself meanwhile is no failure.
        return EventLoopFuture.whenAllComplete(channels.map { $0.close() }, on: eventLoop).map { _ in }
    }

    private func admit(_ channel: any Channel, speaking language: SessionServer.Language) throws {
        let transport = try channel.pipeline.syncOperations.withUnsafeTransportIfAvailable(of: CInt.self) { $0 }
        guard let descriptor = transport else { throw ChannelError.operationUnsupported }
        let user = try Peer(of: descriptor, socketGroup: nil).user
        let identifier = ObjectIdentifier(channel)
        let mayStay = open.withLock { open in
            open.connections[identifier] = (user, channel)
            let ofUser = open.connections.values.count { $0.user == user }
            return !open.isStopped && open.connections.count <= Self.mostConnections && ofUser <= Self.mostOfOneUser
        }
        channel.closeFuture.whenComplete { [self] _ in open.withLock { $0.connections[identifier] = nil } }
        guard mayStay else { throw ChannelError.ioOnClosedChannel }
        try channel.syncOptions?.setOption(.allowRemoteHalfClosure, value: true)
        let deadline = channel.eventLoop.scheduleTask(in: Self.patience) { channel.close(promise: nil) }
        channel.closeFuture.whenComplete { _ in deadline.cancel() }
        let reason = { [self] in error.withLock { $0 } }
        switch language {
        case .lines: try channel.pipeline.syncOperations.addHandler(RefusedConnection(error: reason))
        case .http: try channel.pipeline.syncOperations.addDoorHandlers(RefusedVisitor(error: reason))
        }
    }
}
