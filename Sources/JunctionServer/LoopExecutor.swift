package import NIOCore

/// Runs the tasks of the session owner on the event loop.
///
/// Swift's default executor would wake the process every second after its first job.
package final class LoopExecutor: TaskExecutor {
    private let loop: any EventLoop

    package init(_ loop: any EventLoop) {
        self.loop = loop
    }

    /// Queues a job behind the loop's other tasks.
    package func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        loop.execute { job.runSynchronously(on: self.asUnownedTaskExecutor()) }
    }
}
