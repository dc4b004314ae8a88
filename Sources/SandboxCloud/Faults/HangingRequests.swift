import FoundationEssentials
import Synchronization

/// The requests that wait for `POST /sandbox/release`.
final class HangingRequests: Sendable {
    /// The reason why a request stops waiting.
    enum End: Sendable {
        case released
        /// The client closed the connection, or the sandbox was reset. No answer is needed.
        case abandoned
    }

    private let waiting = Mutex<[UUID: AsyncStream<End>.Continuation]>([:])

    /// Registers a request. The function `end` returns when the request is released or abandoned.
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

    /// Ends the wait of every request, and returns their number.
    func endAll(_ end: End) -> Int {
        let waiting = waiting.withLock { waiting in
            defer { waiting.removeAll() }
            return waiting
        }
        for continuation in waiting.values { continuation.yield(end) }
        return waiting.count
    }
}
