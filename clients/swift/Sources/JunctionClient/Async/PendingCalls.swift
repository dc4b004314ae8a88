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
        case dialogue(externalUserId: String, AsyncStream<DialogueMessage>.Continuation)

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
    /// The daemon's question about a call, until it is answered or the call ends.
    private var questions: [Int64: RequestID] = [:]

    /// - Parameter timer: ends the waiting at its deadline.
    mutating func add(_ waiter: Waiter, for id: Int64, _ timer: Task<Void, Never>?) {
        waiters[id] = waiter
        timers[id] = timer
    }

    /// Ends the call, and returns who waits for it and the question that is still open.
    mutating func take(_ id: Int64) -> (waiter: Waiter?, question: RequestID?) {
        timers.removeValue(forKey: id)?.cancel()
        return (waiters.removeValue(forKey: id), questions.removeValue(forKey: id))
    }

    /// Everybody, when no answer can come any more.
    mutating func takeAll() -> [Waiter] {
        for timer in timers.values { timer.cancel() }
        defer { (waiters, timers, questions) = ([:], [:], [:]) }
        return waiters.sorted { $0.key < $1.key }.map(\.value)
    }

    /// Hands the question to the first call that identifies this user and has no open question.
    ///
    /// - Returns: whether there is such a call.
    mutating func ask(_ question: RequestID, about externalUserId: String) -> Bool {
        for (call, waiter) in waiters.sorted(by: { $0.key < $1.key }) where questions[call] == nil {
            // Byte by byte, as the daemon compares ids.
            guard case .dialogue(let id, let turns) = waiter, id.utf8.elementsEqual(externalUserId.utf8) else {
                continue
            }
            questions[call] = question
            turns.yield(.question(call: call))
            return true
        }
        return false
    }

    /// Closes and returns the open question about this call; `nil` when the call has ended.
    mutating func takeQuestion(about call: Int64) -> RequestID? {
        questions.removeValue(forKey: call)
    }
}

/// What the daemon says to a call that it may ask something about.
enum DialogueMessage: Sendable {
    case question(call: Int64)
    case answer(PendingCalls.Outcome)
}
