import JunctionProtocol
import Synchronization

/// Signals that were received, and calls that ask for the same, in their order, for whoever waits for them.
final class Signals: Sendable {
    /// Tells the caller what became of it, on the event loop.
    typealias Answer = @Sendable (Result<[String], WireError>) -> Void

    private let waiting = Mutex<[(signal: ProcessSignal, answer: Answer)]>([])

    func received(_ signal: ProcessSignal, _ answer: @escaping Answer = { _ in }) {
        waiting.withLock { $0.append((signal, answer)) }
    }

    func next() -> (signal: ProcessSignal, answer: Answer)? { waiting.withLock { $0.isEmpty ? nil : $0.removeFirst() } }
}
