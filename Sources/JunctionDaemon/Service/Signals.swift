import JunctionProtocol
import Synchronization

/// A queue of received signals and of calls that ask for the same, the oldest first.
final class Signals: Sendable {
    /// Answers the caller with the result, on the event loop.
    typealias Answer = @Sendable (Result<[String], WireError>) -> Void

    private let waiting = Mutex<[(signal: ProcessSignal, answer: Answer)]>([])

    func received(_ signal: ProcessSignal, _ answer: @escaping Answer = { _ in }) {
        waiting.withLock { $0.append((signal, answer)) }
    }

    func next() -> (signal: ProcessSignal, answer: Answer)? { waiting.withLock { $0.isEmpty ? nil : $0.removeFirst() } }
}
