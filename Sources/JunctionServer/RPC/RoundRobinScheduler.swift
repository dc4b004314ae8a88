import NIOCore

/// A connection or buffer that continues its work in its turn.
protocol RoundRobinClient: AnyObject {
    func resume()
}

/// Lets connections with more work than one turn continue in rounds. The event loop handles other events between two
/// rounds.
final class RoundRobinScheduler {
    /// The pause before a round. The event loop runs due tasks before it polls the sockets. Two connections that only
    /// rescheduled themselves would keep it from polling; a round that is not due yet does not.
    private static let pause: TimeAmount = .microseconds(20)

    private let eventLoop: any EventLoop
    private var waiting: [any RoundRobinClient] = []

    init(_ eventLoop: any EventLoop) {
        self.eventLoop = eventLoop
    }

    func add(_ taker: any RoundRobinClient) {
        waiting.append(taker)
        if waiting.count == 1 { begin() }
    }

    private func begin() {
        let scheduler = NIOLoopBound(self, eventLoop: eventLoop)
        eventLoop.scheduleTask(in: Self.pause) { scheduler.value.round() }
    }

    private func round() {
        // The list is kept during the round, so that a member that is added meanwhile waits for the next round.
        let count = waiting.count
        for taker in waiting.prefix(count) { taker.resume() }
        waiting.removeFirst(count)
        if !waiting.isEmpty { begin() }
    }
}
