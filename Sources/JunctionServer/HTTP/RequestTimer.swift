import NIOCore

/// Limits the time that a client may take to send a request that it has begun. Only the time in which the daemon waits
/// for input counts.
///
/// Lives on the event loop, and not longer than its connection.
final class RequestTimer {
    /// Whether a part of a request has arrived and the daemon waits for the rest.
    var hasBegun = false

    private unowned let connection: HTTPConnection
    private let timeout: Duration
    private var budget: WaitingBudget
    private var received = 0
    private var waitBegan = NIODeadline.now()
    private var timer: Scheduled<Void>?

    init(of connection: HTTPConnection) {
        self.connection = connection
        timeout = connection.dispatcher.timeouts.line
        budget = WaitingBudget(timeout)
    }

    func received(_ bytes: Int) { received += bytes }

    /// Starts to wait for input of a request that has begun, as long as the budget lasts.
    func wait() {
        guard hasBegun else { return }
        waitBegan = .now()
        let waiting = NIOLoopBound(self, eventLoop: connection.eventLoop)
        timer = connection.eventLoop.scheduleTask(in: TimeAmount(max(budget.left, .zero))) {
            waiting.value.timer = nil
            waiting.value.connection.waitedLongEnough()
        }
    }

    /// Ends the present wait, if there is one, and charges its time.
    func settle() {
        guard timer != nil else { return }
        end()
        budget.waited(.nanoseconds((NIODeadline.now() - waitBegan).nanoseconds), for: received)
        received = 0
    }

    /// Resets the budget, because a request begins or has ended.
    func restart(hasBegun: Bool) {
        end()
        (self.hasBegun, received, budget) = (hasBegun, 0, WaitingBudget(timeout))
    }

    func end() {
        timer?.cancel()
        timer = nil
    }
}
