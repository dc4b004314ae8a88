import Synchronization

/// The one tally that everybody adds to, and that a test can wait for instead of sleeping.
final class Counters: Sendable {
    private struct Waiter {
        let counter: Tally.Counter
        let atLeast: Int
        let signal: AsyncStream<Tally>.Continuation
    }

    private struct Books {
        var tally = Tally()
        var waiters: [Waiter] = []
    }

    private let books = Mutex(Books())
    private let bell: Bell

    init(bell: Bell) {
        self.bell = bell
    }

    var tally: Tally { books.withLock { $0.tally } }

    func count(_ change: (inout Tally) -> Void) {
        books.withLock { books in
            change(&books.tally)
            let tally = books.tally
            books.waiters.removeAll { waiter in
                guard tally[waiter.counter] >= waiter.atLeast else { return false }
                waiter.signal.yield(tally)
                return true
            }
        }
        bell.ring()
    }

    /// Starts again from nothing; only what is under way now is still known.
    func reset() {
        count { tally in
            var fresh = Tally()
            fresh.hanging = tally.hanging
            for (name, endpoint) in tally.endpoints where endpoint.inFlight > 0 {
                fresh.endpoints[name] = Tally.Endpoint(inFlight: endpoint.inFlight)
            }
            tally = fresh
        }
    }

    /// The tally once a counter has got so far; `nil` if the waiting was cancelled.
    func wait(for counter: Tally.Counter, atLeast: Int) async -> Tally? {
        let (reached, signal) = AsyncStream<Tally>.makeStream()
        books.withLock { $0.waiters.append(Waiter(counter: counter, atLeast: atLeast, signal: signal)) }
        count { _ in }
        for await tally in reached { return tally }
        return nil
    }
}
