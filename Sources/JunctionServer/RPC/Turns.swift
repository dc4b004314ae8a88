import NIOCore

/// Somebody that goes on when it is its turn.
protocol TurnTaker: AnyObject {
    func goOn()
}

/// Connections that have more than one turn is for: all of them go on in rounds, and whoever else has something to say is
/// heard in between.
final class Turns {
    /// A task that is due is run before the loop looks at any socket again, so two connections that only put themselves
    /// at the end of the queue would never let it look. A round that is not due yet does.
    private static let pause: TimeAmount = .microseconds(20)

    private let eventLoop: any EventLoop
    private var waiting: [any TurnTaker] = []

    init(_ eventLoop: any EventLoop) {
        self.eventLoop = eventLoop
    }

    /// Has it go on in the next round.
    func add(_ taker: any TurnTaker) {
        waiting.append(taker)
        if waiting.count == 1 { begin() }
    }

    private func begin() {
        let turns = NIOLoopBound(self, eventLoop: eventLoop)
        eventLoop.scheduleTask(in: Self.pause) { turns.value.round() }
    }

    private func round() {
        // The list is kept while they go on, so that whoever is added only waits for the next round.
        let count = waiting.count
        for taker in waiting.prefix(count) { taker.goOn() }
        waiting.removeFirst(count)
        if !waiting.isEmpty { begin() }
    }
}
