import Dispatch
import JunctionSession
import Synchronization

/// The thread that waits for the disk. It does all work in the order of the calls.
package final class DiskQueue: Sendable {
    /// Private serial queues: Dispatch's global queues start a monitor that wakes the process every second.
    private let queue = DispatchQueue(label: "junctiond.vault")
    /// Waits for the end of work, the earliest deadline first. A timer of Dispatch would keep an event loop of its own.
    private let deadlines = DispatchQueue(label: "junctiond.vault.deadlines")
    private let milliseconds: Int

    /// - Parameter patience: how long callers wait for a disk that stalls.
    package init(patience: Duration) {
        milliseconds = Int(patience / .milliseconds(1))
    }

    func run(_ work: @escaping @Sendable () -> Void) {
        queue.async(execute: work)
    }

    /// Runs `work`, and calls `then` once: with the result, or with nil if the disk stalls. The work is then done later.
    func run<Result: Sendable>(
        _ work: @escaping @Sendable () -> Result,
        then: @escaping @Sendable (Result?) -> Void
    ) {
        let isAnswered = Mutex(false)
        let answer = { @Sendable (result: Result?) in
            let isLate = isAnswered.withLock { answered in
                defer { answered = true }
                return answered
            }
            if !isLate { then(result) }
        }
        let (end, deadline) = (DispatchSemaphore(value: 0), DispatchTime.now() + .milliseconds(milliseconds))
        queue.async {
            answer(work())
            end.signal()
        }
        deadlines.async { if end.wait(timeout: deadline) == .timedOut { answer(nil) } }
    }

    /// Runs `work` and returns its result, or nil if the disk stalls.
    func result<Result: Sendable>(of work: @escaping @Sendable () -> Result) async -> Result? {
        await withCheckedContinuation { continuation in
            run(work) { continuation.resume(returning: $0) }
        }
    }
}
