import Synchronization

/// The requests that wait for `POST /sandbox/release`.
final class HangingRequests: Sendable {
    /// How the waiting ended.
    enum End: Sendable {
        case released
        /// The client went away, or the cloud was reset: nobody would hear an answer.
        case abandoned
    }

    /// One waiting request.
    struct Place: Sendable {
        fileprivate let number: Int
        fileprivate let ends: AsyncStream<End>

        /// How the waiting of this request ends, once it has.
        func end() async -> End {
            for await end in ends { return end }
            return .abandoned
        }
    }

    private struct Held {
        var last = 0
        var waiting: [Int: AsyncStream<End>.Continuation] = [:]
    }

    private let held = Mutex(Held())

    func hold() -> Place {
        let (ends, continuation) = AsyncStream<End>.makeStream()
        let number = held.withLock { held in
            held.last += 1
            held.waiting[held.last] = continuation
            return held.last
        }
        return Place(number: number, ends: ends)
    }

    func abandon(_ place: Place) {
        let continuation = held.withLock { $0.waiting.removeValue(forKey: place.number) }
        continuation?.yield(.abandoned)
    }

    /// Ends the waiting of all, and says how many there were.
    func endAll(_ end: End) -> Int {
        let waiting = held.withLock { held in
            defer { held.waiting.removeAll() }
            return held.waiting
        }
        for continuation in waiting.values { continuation.yield(end) }
        return waiting.count
    }
}
