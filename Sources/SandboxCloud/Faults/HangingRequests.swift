import FoundationEssentials
import Synchronization

/// The requests that wait for `POST /sandbox/release`.
final class HangingRequests: Sendable {
    /// How the waiting of a request ended.
    enum End: Sendable {
        case released
        /// The client went away, or the sandbox was reset: nobody would hear an answer.
        case abandoned
    }

    private let waiting = Mutex<[UUID: AsyncStream<End>.Continuation]>([:])

    /// Registers a request. `end` returns when it is released or abandoned.
    func hold() -> (place: UUID, end: @Sendable () async -> End) {
        let (ends, continuation) = AsyncStream<End>.makeStream()
        let place = UUID()
        waiting.withLock { $0[place] = continuation }
        return (place, { await ends.first { _ in true } ?? .abandoned })
    }

    func abandon(_ place: UUID) {
        let continuation = waiting.withLock { $0.removeValue(forKey: place) }
        continuation?.yield(.abandoned)
    }

    /// Ends the waiting of all, and says how many there were.
    func endAll(_ end: End) -> Int {
        let waiting = waiting.withLock { waiting in
            defer { waiting.removeAll() }
            return waiting
        }
        for continuation in waiting.values { continuation.yield(end) }
        return waiting.count
    }
}
