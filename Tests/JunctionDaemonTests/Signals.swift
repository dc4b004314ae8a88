import Foundation

/// A queue of values from other threads, for which the test's thread can wait.
final class Signals<Signal: Sendable>: @unchecked Sendable {
    // Accessed only under the condition's lock, so sharing it between threads is safe.
    private var waiting: [Signal] = []
    private let condition = NSCondition()

    /// The number of values that were put and not taken yet.
    var count: Int {
        condition.withLock { waiting.count }
    }

    func put(_ signal: Signal) {
        condition.withLock {
            waiting.append(signal)
            condition.signal()
        }
    }

    func take() -> Signal {
        condition.withLock {
            while waiting.isEmpty { condition.wait() }
            return waiting.removeFirst()
        }
    }
}
