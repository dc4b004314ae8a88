import Synchronization

/// An executor that runs jobs on the test's own thread when the test asks for it, so that the order of jobs is
/// deterministic.
package final class ManualExecutor: SerialExecutor, TaskExecutor {
    private let jobs = Mutex<[UnownedJob]>([])

    package init() {}

    package func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        jobs.withLock { $0.append(job) }
    }

    package func asUnownedSerialExecutor() -> UnownedSerialExecutor {
        UnownedSerialExecutor(ordinary: self)
    }

    package func asUnownedTaskExecutor() -> UnownedTaskExecutor {
        UnownedTaskExecutor(ordinary: self)
    }

    /// Does nothing, because only the test's thread runs jobs.
    package func checkIsolated() {}

    /// Runs one job. Returns `false` if there was none.
    @discardableResult
    package func step() -> Bool {
        guard let job = jobs.withLock({ $0.isEmpty ? nil : $0.removeFirst() }) else { return false }
        job.runSynchronously(isolatedTo: asUnownedSerialExecutor(), taskExecutor: asUnownedTaskExecutor())
        return true
    }

    /// Runs jobs until the queue is empty.
    package func runUntilIdle() {
        while step() {}
    }
}
