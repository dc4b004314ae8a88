import Synchronization

/// Signals that were received, in their order, for whoever waits for them.
final class Signals: Sendable {
    private let waiting = Mutex<[ProcessSignal]>([])

    func received(_ signal: ProcessSignal) { waiting.withLock { $0.append(signal) } }

    func next() -> ProcessSignal? { waiting.withLock { $0.isEmpty ? nil : $0.removeFirst() } }
}
