import Synchronization

/// Signals that were received, in their order, for whoever waits for them.
final class Signals: Sendable {
    private let waiting = Mutex<[ProcessSignal]>([])

    func received(_ signal: ProcessSignal) { waiting.withLock { $0.append(signal) } }

    func next() -> ProcessSignal? { next { _ in true } }

    /// The first of those that are meant.
    func next(where isMeant: (ProcessSignal) -> Bool) -> ProcessSignal? {
        waiting.withLock { waiting in waiting.firstIndex(where: isMeant).map { waiting.remove(at: $0) } }
    }
}
