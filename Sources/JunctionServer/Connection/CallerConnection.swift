import NIOCore

/// A connection of a caller, over either socket.
protocol CallerConnection: AnyObject, SendableMetatype {
    var caller: Caller { get }
    var eventLoop: any EventLoop { get }
    /// Where it is in its channel, from the beginning to the end.
    var context: ChannelHandlerContext? { get }
    /// Whether the caller is told, asked or served with what it has no right to any more.
    var usesWithdrawnRight: Bool { get }
    /// The caller lost the right to what it is told or asked: the connection ends, so that the caller notices, connects again, and
    /// learns why. Silence would look like a session in which nothing happens.
    func rightWithdrawn()
    /// What is kept here for the caller, and how long nothing of it has moved.
    func burden(at now: NIODeadline) -> CallerAccount.Burden
    /// The user has too much waiting here, and most of it for the longest time is here.
    func overBudget()
    /// Takes no more from the peer than what has arrived; that is still answered.
    func drain()
}

extension CallerConnection {
    func close() { context?.close(promise: nil) }

    /// How much of what was sent the network library still has.
    var queued: Int {
        (try? context?.channel.syncOptions?.getOption(.bufferedWritableBytes)) ?? 0
    }

    /// The right is withdrawn when whoever tells or asks the caller has finished with the others.
    func rightIsGone() { onLoop { $0.rightWithdrawn() } }

    func onLoop(_ body: @escaping @Sendable (Self) -> Void) {
        let connection = NIOLoopBound(self, eventLoop: eventLoop)
        eventLoop.execute { body(connection.value) }
    }
}
