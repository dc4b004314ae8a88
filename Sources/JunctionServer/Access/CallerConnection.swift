import NIOCore

/// A connection of a caller, over either socket.
protocol CallerConnection: AnyObject, SendableMetatype {
    var caller: Caller { get }
    var eventLoop: any EventLoop { get }
    /// The handler's context, from `handlerAdded` to `handlerRemoved`.
    var context: ChannelHandlerContext? { get }
    /// Whether the caller receives states, questions or an API answer without the right to them.
    var usesWithdrawnRight: Bool { get }
    /// Ends the connection of a caller that lost the right to the states or questions that it receives. The caller connects again
    /// and gets the reason; without an end it would wait for states that never come.
    func rightWithdrawn()
    /// What is kept here for the caller, and how long nothing of it has moved.
    func burden(at now: NIODeadline) -> CallerAccount.Burden
    /// The user's account is over its limit, and this connection weighs most. It closes or drops what waits.
    func overBudget()
    /// Answers the requests that have arrived, and takes no further ones.
    func drain()
}

extension CallerConnection {
    func close() { context?.close(promise: nil) }

    /// The bytes that were sent and that SwiftNIO still buffers.
    var queued: Int {
        (try? context?.channel.syncOptions?.getOption(.bufferedWritableBytes)) ?? 0
    }

    /// Calls `rightWithdrawn` in the next turn of the event loop, so that a loop over connections is not changed from within.
    func rightWithdrawnSoon() { onLoop { $0.rightWithdrawn() } }

    func onLoop(_ body: @escaping @Sendable (Self) -> Void) {
        let connection = NIOLoopBound(self, eventLoop: eventLoop)
        eventLoop.execute { body(connection.value) }
    }
}
