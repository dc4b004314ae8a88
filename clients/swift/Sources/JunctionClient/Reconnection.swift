/// What to do while no daemon listens.
package enum Patience: Sendable {
    /// Fail at first. After there was a connection, wait for the daemon to come back.
    case onceConnected
    /// Wait for the daemon from the start, but fail if its configuration is invalid.
    case whileAbsent
    /// Wait for the daemon from the start.
    case always
}

/// Decides when a lost connection is made again, for one thread.
struct Reconnection {
    private let path: SocketPath
    private let interruption: Interruption?
    private let patience: Patience
    private var backoff: Backoff
    private let stableAfter: Duration
    /// Whether there was ever a connection.
    private var wasConnected = false
    /// When the present connection starts to count as one that lasted.
    private var steadyFrom = Deadline.never

    /// - Parameter stableAfter: how long a connection has to last so that the next attempt comes at once. Otherwise, a
    ///   daemon that crashes after each answer would be called in a tight loop.
    init(
        to path: SocketPath,
        patience: Patience,
        backoff: Backoff = Backoff(),
        stableAfter: Duration = Backoff.longest,
        unless interruption: Interruption?
    ) {
        self.path = path
        self.patience = patience
        self.backoff = backoff
        self.stableAfter = stableAfter
        self.interruption = interruption
    }

    func connect(by deadline: Deadline = .never) throws(JunctionError) -> Connection {
        try Connection(to: path, by: deadline, unless: interruption)
    }

    /// Records that the daemon has answered on a new connection.
    mutating func connectionBegan() {
        steadyFrom = .after(stableAfter)
        wasConnected = true
    }

    /// Waits until the next attempt, after the connection was lost or could not be made.
    ///
    /// - Throws: `error` itself if a new connection would not change it, `timedOut` at the deadline, and `cancelled`
    ///   when the interruption comes.
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
        // If a local resource was missing from the start, waiting could hide the problem for ever. After a connection,
        // the shortage is likely to be temporary.
        if error.kind == .localFailure { return wasConnected }
        guard error.isWorthReconnecting else { return false }
        return switch patience {
        case .onceConnected: wasConnected
        case .whileAbsent: error.kind != .misconfigured
        case .always: true
        }
    }
}
