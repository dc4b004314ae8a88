import JunctionSecret
import Synchronization

/// A body on its way through: one end puts bytes in, the other takes them out, and neither waits for the other.
///
/// How much is in it is up to the end that puts in, which is told of whatever was taken, and of a reader that would take more.
/// What is told is told inside the call of the other end, with nothing locked. Its memory is wiped as it is emptied.
package final class BodyStream: Sendable {
    /// How a body ends.
    package enum End: Equatable, Sendable {
        case complete
        /// There will be no more of it, and it is not all of it.
        case broken(Unavailability)
    }

    /// How many bytes there are altogether, where that is known beforehand.
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

    // MARK: The end that puts in

    /// Whom to tell that so many bytes were taken, or, with none, that somebody waits for more; and that nobody takes any more.
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

    /// Adds bytes; those that nobody wants are dropped.
    package func put(_ bytes: UnsafeRawBufferPointer) {
        let (tell, awaited) = state.withLock { state -> ((@Sendable () -> Void)?, CheckedContinuation<Void, Never>?) in
            guard !state.isOver else { return (nil, nil) }
            state.bytes.append(bytes)
            return (state.whenMore, state.reached())
        }
        awaited?.resume()
        tell?()
    }

    /// There is no more.
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

    /// Neither end may go on: what waits to be taken is dropped, also when all of it has come, and both ends are told.
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

    /// Nothing more is put in, or nobody takes any more.
    package var isOver: Bool { state.withLock { $0.isOver } }
    /// Nothing more can be taken.
    package var isSpent: Bool { state.withLock { $0.isSpent } }
    /// How many bytes wait to be taken.
    package var count: Int { state.withLock { $0.bytes.count } }
    /// Nobody takes any more.
    package var isAbandoned: Bool { state.withLock { $0.isAbandoned } }

    // MARK: The end that takes out

    /// Whom to tell that there is more, or the end. It is told of what there is already by looking.
    package func whenMore(_ more: @escaping @Sendable () -> Void) {
        state.withLock { if !$0.isOver { $0.whenMore = more } }
    }

    /// Lends the next bytes, which are gone then; nothing where there are none now.
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

    /// How it ended, once everything before the end was taken.
    package var end: End? { state.withLock { $0.bytes.count == 0 ? $0.end : nil } }

    /// Why there will not be all of it, whatever can still be taken.
    package var breach: Unavailability? {
        state.withLock { if case .broken(let why) = $0.end { why } else { nil } }
    }

    /// Nobody takes any more: what is in it is dropped, and the other end is told.
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

    /// Waits until something can be taken, or there is the end.
    package func arrived(atLeast count: Int = 1) async {
        await withCheckedContinuation { continuation in
            let isThere = state.withLock { state in
                state.awaited = (count, continuation)
                return state.reached() != nil
            }
            if isThere { continuation.resume() }
        }
    }

    /// Waits until all of it is there, or more than so many bytes are, and takes it if it is all; nothing otherwise.
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
    /// Whoever waits for as much as there is by now, who waits no more.
    fileprivate mutating func reached() -> CheckedContinuation<Void, Never>? {
        guard let awaited, isOver || bytes.count >= awaited.count else { return nil }
        self.awaited = nil
        return awaited.continuation
    }
}
