import JunctionJSON
import JunctionProtocol

/// The calls of one connection that wait for an answer.
struct PendingCalls {
    /// The result of a call.
    typealias Outcome = Result<JSONValue, JunctionError>

    /// How the result of a call is delivered.
    enum Waiter: Sendable {
        /// Resumes the suspended task with the answer.
        case answer(CheckedContinuation<Outcome, Never>)
        /// Delivers the daemon's questions about one user, and then the answer.
        case identify(externalUserId: String, AsyncStream<IdentifyMessage>.Continuation)

        func finish(_ outcome: Outcome) {
            switch self {
            case .answer(let continuation):
                continuation.resume(returning: outcome)
            case .identify(_, let turns):
                turns.yield(.answer(outcome))
                turns.finish()
            }
        }
    }

    private var waiters: [Int64: Waiter] = [:]
    private var timers: [Int64: Task<Void, Never>] = [:]
    /// The daemon's open question about each call.
    private var questions: [Int64: RequestID] = [:]

    /// Adds a call.
    /// - Parameter timer: the task that ends the call at its deadline.
    mutating func add(_ waiter: Waiter, for id: Int64, _ timer: Task<Void, Never>?) {
        waiters[id] = waiter
        timers[id] = timer
    }

    /// Ends the call, and returns its waiter and its open question.
    mutating func take(_ id: Int64) -> (waiter: Waiter?, question: RequestID?) {
        timers.removeValue(forKey: id)?.cancel()
        return (waiters.removeValue(forKey: id), questions.removeValue(forKey: id))
    }

    /// Ends all calls, because no answer can come any more, and returns their waiters.
    mutating func takeAll() -> [Waiter] {
        for timer in timers.values { timer.cancel() }
        defer { (waiters, timers, questions) = ([:], [:], [:]) }
        return waiters.sorted { $0.key < $1.key }.map(\.value)
    }

    /// Passes the question to the first call that identifies this user and has no open question.
    ///
    /// - Returns: whether there is such a call.
    mutating func ask(_ question: RequestID, about externalUserId: String) -> Bool {
        for (call, waiter) in waiters.sorted(by: { $0.key < $1.key }) where questions[call] == nil {
            // Compares bytes, as the daemon does.
            guard case .identify(let id, let turns) = waiter, id.utf8.elementsEqual(externalUserId.utf8) else {
                continue
            }
            questions[call] = question
            turns.yield(.question(call: call))
            return true
        }
        return false
    }

    /// Closes and returns the open question about this call; `nil` if the call has ended.
    mutating func takeQuestion(about call: Int64) -> RequestID? {
        questions.removeValue(forKey: call)
    }
}

/// A message of the daemon to a call about which it may ask questions.
enum IdentifyMessage: Sendable {
    case question(call: Int64)
    case answer(PendingCalls.Outcome)
}
