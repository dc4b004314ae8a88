import Foundation

/// What another thread said, waited for on the test's own.
final class Signals<Signal: Sendable>: @unchecked Sendable {
    // Only touched under the condition's lock, which is why sharing it between threads is sound.
    private var waiting: [Signal] = []
    private let condition = NSCondition()

    /// How many were said and not taken yet.
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
