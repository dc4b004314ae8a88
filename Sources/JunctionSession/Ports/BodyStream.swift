import JunctionSecret
import Synchronization

/// A streamed body. The writer puts bytes in, the reader takes them out, and neither blocks the other.
///
/// The writer bounds the number of buffered bytes. It is notified of each read, and of a reader that waits for more.
/// Each callback runs inside the call of the other side, without a lock. The stream wipes its memory as it is emptied.
package final class BodyStream: Sendable {
    package enum End: Equatable, Sendable {
        case complete
        /// The body ended before it was complete.
        case broken(Unavailability)
    }

    package let length: UInt64?
    private let state = Mutex(State())

    fileprivate struct State: ~Copyable {
        var bytes = WipedQueue()
        var end: End?
        var isAbandoned = false
        var whenMore: (@Sendable () -> Void)?
        var whenTaken: (@Sendable (Int) -> Void)?
        var whenAbandoned: (@Sendable () -> Void)?
        var awaited: (count: Int, continuation: CheckedContinuation<Void, Never>)?

        var isOver: Bool { end != nil || isAbandoned }
        var isSpent: Bool { isAbandoned || end != nil && bytes.count == 0 }
    }

    package init(length: UInt64? = nil) {
        self.length = length
    }

    /// Sets the writer's callbacks. `taken` gets the number of bytes that were read, or zero if the reader waits for
    /// more. `abandoned` is called when the reader gives up.
    package func whenTaken(
        _ taken: @escaping @Sendable (Int) -> Void,
        abandoned: @escaping @Sendable () -> Void
    ) {
        let isAbandoned = state.withLock { state in
            (state.whenTaken, state.whenAbandoned) = (taken, abandoned)
            return state.isAbandoned
        }
        if isAbandoned { abandoned() }
    }

    /// Adds bytes. They are dropped after the end or after the reader has given up.
    package func put(_ bytes: UnsafeRawBufferPointer) {
        let (tell, awaited) = state.withLock { state -> ((@Sendable () -> Void)?, CheckedContinuation<Void, Never>?) in
            guard !state.isOver else { return (nil, nil) }
            state.bytes.append(bytes)
            return (state.whenMore, state.reached())
        }
        awaited?.resume()
        tell?()
    }

    /// Ends the body.
    package func finish(_ end: End) {
        let (tell, awaited) = state.withLock { state -> ((@Sendable () -> Void)?, CheckedContinuation<Void, Never>?) in
            guard !state.isOver else { return (nil, nil) }
            state.end = end
            (state.whenTaken, state.whenAbandoned) = (nil, nil)
            defer { state.whenMore = nil }
            return (state.whenMore, state.reached())
        }
        awaited?.resume()
        tell?()
    }

    /// Breaks the body off for both sides. Unread bytes are dropped, even if the body was complete.
    package func breakOff(_ why: Unavailability) {
        typealias Told = (more: (@Sendable () -> Void)?, abandoned: (@Sendable () -> Void)?)
        let (told, awaited) = state.withLock { state -> (Told, CheckedContinuation<Void, Never>?) in
            guard !state.isSpent else { return ((nil, nil), nil) }
            state.end = .broken(why)
            state.bytes = WipedQueue()
            defer { (state.whenMore, state.whenTaken, state.whenAbandoned) = (nil, nil, nil) }
            return ((state.whenMore, state.whenAbandoned), state.reached())
        }
        awaited?.resume()
        told.abandoned?()
        told.more?()
    }

    /// Whether the writer has finished or the reader has given up.
    package var isOver: Bool { state.withLock { $0.isOver } }
    /// Whether the reader can take nothing more.
    package var isSpent: Bool { state.withLock { $0.isSpent } }
    package var count: Int { state.withLock { $0.bytes.count } }
    package var isAbandoned: Bool { state.withLock { $0.isAbandoned } }

    /// Sets the callback for new bytes and for the end. It is not called for bytes that are already there.
    package func whenMore(_ more: @escaping @Sendable () -> Void) {
        state.withLock { if !$0.isOver { $0.whenMore = more } }
    }

    /// Lends the next bytes to `body` and removes them. Returns `nil` if there are none now.
    package func take<Result: Sendable>(atMost most: Int, _ body: (UnsafeRawBufferPointer) -> Result) -> Result? {
        let (result, count, tell) = state.withLock { state -> (Result?, Int, (@Sendable (Int) -> Void)?) in
            guard most > 0, state.bytes.count > 0 else { return (nil, 0, state.whenTaken) }
            let before = state.bytes.count
            let result = state.bytes.take(atMost: most, body)
            return (result, before - state.bytes.count, state.whenTaken)
        }
        tell?(count)
        return result
    }

    /// The end, after every byte before it was read.
    package var end: End? { state.withLock { $0.bytes.count == 0 ? $0.end : nil } }

    /// The reason why the body is incomplete, even while bytes can still be read.
    package var breach: Unavailability? {
        state.withLock { if case .broken(let why) = $0.end { why } else { nil } }
    }

    /// Gives the rest of the body up. Unread bytes are dropped, and the writer is notified.
    package func abandon() {
        let (tell, awaited) = state.withLock { state -> ((@Sendable () -> Void)?, CheckedContinuation<Void, Never>?) in
            guard !state.isAbandoned else { return (nil, nil) }
            state.isAbandoned = true
            state.bytes = WipedQueue()
            defer { (state.whenMore, state.whenTaken, state.whenAbandoned) = (nil, nil, nil) }
            return (state.whenAbandoned, state.reached())
        }
        awaited?.resume()
        tell?()
    }

    /// Waits until at least `count` bytes can be read, or until the end.
    package func arrived(atLeast count: Int = 1) async {
        await withCheckedContinuation { continuation in
            let isThere = state.withLock { state in
                state.awaited = (count, continuation)
                return state.reached() != nil
            }
            if isThere { continuation.resume() }
        }
    }

    /// Ends the wait of `arrived` and `whole` now.
    package func endWait() {
        let awaited = state.withLock { state in
            defer { state.awaited = nil }
            return state.awaited?.continuation
        }
        awaited?.resume()
    }

    /// Waits for the whole body, and returns it if it has at most `most` bytes. Otherwise returns `nil`, and the bytes
    /// stay.
    package func whole(atMost most: Int) async -> [UInt8]? {
        await arrived(atLeast: most + 1)
        return state.withLock { state in
            guard state.end == .complete, !state.isAbandoned, state.bytes.count <= most else { return nil }
            var all: [UInt8] = []
            all.reserveCapacity(state.bytes.count)
            while state.bytes.count > 0 { state.bytes.take(atMost: .max) { all += $0 } }
            return all
        }
    }
}

extension BodyStream.State {
    /// Returns the waiting reader if enough bytes or the end have arrived, and forgets it.
    fileprivate mutating func reached() -> CheckedContinuation<Void, Never>? {
        guard let awaited, isOver || bytes.count >= awaited.count else { return nil }
        self.awaited = nil
        return awaited.continuation
    }
}
