package import NIOCore

/// Runs the session owner's tasks on the event loop.
///
/// The default executor would wake the process once a second for ever after its first job.
package final class LoopExecutor: TaskExecutor {
    private let loop: any EventLoop

    /// Runs tasks on this loop.
    package init(_ loop: any EventLoop) {
        self.loop = loop
    }

    /// Queues a job behind what the loop has to do already.
    package func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        loop.execute { job.runSynchronously(on: self.asUnownedTaskExecutor()) }
    }
}
