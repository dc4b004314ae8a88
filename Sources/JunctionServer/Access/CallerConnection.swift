import NIOCore

protocol CallerConnection: AnyObject, SendableMetatype {
    var caller: Caller { get }
    var eventLoop: any EventLoop { get }
    /// The handler's context, from `handlerAdded` to `handlerRemoved`.
    var context: ChannelHandlerContext? { get }
    /// Whether the caller receives states, questions or an API answer without having the right to them.
    var usesWithdrawnRight: Bool { get }
    /// Ends the connection of a caller that lost the right to the states or questions that it receives. The caller
    /// connects again and gets the reason. Otherwise, it would wait for states that never come.
    func rightWithdrawn()
    /// Returns the bytes that are kept for the caller, and for how long they have not changed.
    func bufferedData(at now: NIODeadline) -> CallerAccount.BufferedData
    /// Closes the connection, or drops its buffered data. Called when the user is over the limit, and this connection
    /// has buffered the most data for the longest time.
    func overBudget()
    /// Answers the requests that have arrived, and accepts no further ones.
    func drain()
}

extension CallerConnection {
    func close() { context?.close(promise: nil) }

    /// The bytes that were sent and that SwiftNIO still buffers.
    var queued: Int {
        (try? context?.channel.syncOptions?.getOption(.bufferedWritableBytes)) ?? 0
    }

    /// Calls `rightWithdrawn` in the next turn of the event loop, so that a loop over connections does not change them.
    func rightWithdrawnSoon() { onLoop { $0.rightWithdrawn() } }

    func onLoop(_ body: @escaping @Sendable (Self) -> Void) {
        let connection = NIOLoopBound(self, eventLoop: eventLoop)
        eventLoop.execute { body(connection.value) }
    }
}
