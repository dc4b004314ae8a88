import Synchronization

/// Tells whoever listens that something in the cloud has changed; what it is now, they look up.
final class Bell: Sendable {
    private struct Listeners {
        var last = 0
        var signals: [Int: AsyncStream<Void>.Continuation] = [:]
    }

    private let listeners = Mutex(Listeners())

    func ring() {
        let signals = listeners.withLock { $0.signals.values.map(\.self) }
        for signal in signals { signal.yield() }
    }

    /// An element at once, and one for whatever happened since the last: many changes can be one.
    func changes() -> AsyncStream<Void> {
        let (changes, signal) = AsyncStream<Void>.makeStream(bufferingPolicy: .bufferingNewest(1))
        let number = listeners.withLock { listeners in
            listeners.last += 1
            listeners.signals[listeners.last] = signal
            return listeners.last
        }
        signal.onTermination = { [weak self] _ in
            _ = self?.listeners.withLock { $0.signals.removeValue(forKey: number) }
        }
        signal.yield()
        return changes
    }
}
