/// What to do when no daemon listens.
package enum Patience: Sendable {
    /// Fail at first; once there was a daemon, wait for it to come back.
    case onceConnected
    /// Wait for it, from the start; but not for somebody who mends its configuration.
    case whileAbsent
    /// Wait for it, from the start.
    case always
}

/// When a connection that was lost is made again, for one thread that waits.
struct Reconnection {
    private let path: SocketPath
    private let interruption: Interruption?
    private let patience: Patience
    private var backoff: Backoff
    private let steadiness: Duration
    /// Whether there ever was a connection.
    private var wasConnected = false
    /// From when on the present connection counts as one that lasted.
    private var steadyFrom = Deadline.never

    /// - Parameter steadiness: how long a connection has to last for the next one to come at once. A daemon that dies
    ///   as soon as it has answered is not come back to any faster for having answered.
    init(
        to path: SocketPath,
        patience: Patience,
        backoff: Backoff = Backoff(),
        steadiness: Duration = Backoff.longest,
        unless interruption: Interruption?
    ) {
        self.path = path
        self.patience = patience
        self.backoff = backoff
        self.steadiness = steadiness
        self.interruption = interruption
    }

    func connect(by deadline: Deadline = .never) throws(JunctionError) -> Connection {
        try Connection(to: path, by: deadline, unless: interruption)
    }

    /// The daemon has answered on a new connection.
    mutating func connectionBegan() {
        steadyFrom = .after(steadiness)
        wasConnected = true
    }

    /// The connection was lost, or could not be made: waits for the time to try again.
    ///
    /// - Throws: the error itself when a new connection would not change it, `timedOut` at the deadline, and
    ///   `cancelled` when the interruption comes.
    mutating func wait(after error: JunctionError, by deadline: Deadline = .never) throws(JunctionError) {
        if steadyFrom.hasPassed { backoff.succeeded() }
        steadyFrom = .never
        guard isWorthWaiting(after: error) else { throw error }
        let delay = max(backoff.nextDelay(chance: .random(in: 0...1)), error.retryAfter ?? .zero)
        if deadline.hasPassed { throw .timedOut }
        guard delay > .zero else { return }
        do throws(JunctionError) {
            try waitForInput(from: nil, until: deadline.orAfter(delay), unless: interruption)
        } catch {
            guard error.kind == .timedOut, !deadline.hasPassed else { throw error }
        }
    }

    private func isWorthWaiting(after error: JunctionError) -> Bool {
        // What this program lacks at first it may never get, and nobody would notice. What it had once it lacks for a moment.
        if error.kind == .localFailure { return wasConnected }
        guard error.isWorthReconnecting else { return false }
        return switch patience {
        case .onceConnected: wasConnected
        case .whileAbsent: error.kind != .misconfigured
        case .always: true
        }
    }
}
