import JunctionJSON
import JunctionProtocol

/// Who waits for which answer on one connection.
struct PendingCalls {
    /// What comes back for a call.
    typealias Outcome = Result<JSONValue, JunctionError>

    /// How the caller hears of it.
    enum Waiter: Sendable {
        /// One answer, to whoever is suspended.
        case answer(CheckedContinuation<Outcome, Never>)
        /// Questions of the daemon's about one user, and then the answer.
        case dialogue(externalUserId: String, AsyncStream<DialogueTurn>.Continuation)

        func finish(_ outcome: Outcome) {
            switch self {
            case .answer(let continuation):
                continuation.resume(returning: outcome)
            case .dialogue(_, let turns):
                turns.yield(.answer(outcome))
                turns.finish()
            }
        }
    }

    private var waiters: [Int64: Waiter] = [:]
    private var timers: [Int64: Task<Void, Never>] = [:]

    /// - Parameter timer: ends the waiting at its deadline.
    mutating func add(_ waiter: Waiter, for id: Int64, _ timer: Task<Void, Never>?) {
        waiters[id] = waiter
        timers[id] = timer
    }

    /// Whoever waits for this answer, who then waits no longer.
    mutating func take(_ id: Int64) -> Waiter? {
        timers.removeValue(forKey: id)?.cancel()
        return waiters.removeValue(forKey: id)
    }

    /// Everybody, when no answer can come any more.
    mutating func takeAll() -> [Waiter] {
        for timer in timers.values { timer.cancel() }
        defer { (waiters, timers) = ([:], [:]) }
        return waiters.sorted { $0.key < $1.key }.map(\.value)
    }

    /// Who is to be asked for the credential of this user: whoever was first to identify them.
    func dialogue(about externalUserId: String) -> AsyncStream<DialogueTurn>.Continuation? {
        for (_, waiter) in waiters.sorted(by: { $0.key < $1.key }) {
            // Byte by byte, as the daemon compares ids.
            if case .dialogue(let id, let turns) = waiter, id.utf8.elementsEqual(externalUserId.utf8) { return turns }
        }
        return nil
    }
}

/// What the daemon says to a call that it may ask something about.
enum DialogueTurn: Sendable {
    case question(RequestID)
    case answer(PendingCalls.Outcome)
}
