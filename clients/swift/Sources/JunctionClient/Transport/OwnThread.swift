import Glibc

/// Runs blocking code on a separate thread, which does not belong to Swift's thread pool and receives no signals.
package func startThread(_ body: @escaping @Sendable () -> Void) throws(JunctionError) {
    var attributes = pthread_attr_t()
    pthread_attr_init(&attributes)
    defer { pthread_attr_destroy(&attributes) }
    pthread_attr_setdetachstate(&attributes, Int32(PTHREAD_CREATE_DETACHED))

    // A new thread inherits the signal mask. So the program's signals go to the program's own threads.
    var all = sigset_t()
    var before = sigset_t()
    sigfillset(&all)
    pthread_sigmask(SIG_SETMASK, &all, &before)
    defer { pthread_sigmask(SIG_SETMASK, &before, nil) }

    let work = Unmanaged.passRetained(Work(body))
    var thread = pthread_t()
    let failure = pthread_create(
        &thread,
        &attributes,
        { work in
            Unmanaged<Work>.fromOpaque(work!).takeRetainedValue().body()
            return nil
        },
        work.toOpaque()
    )
    guard failure == 0 else {
        work.release()
        throw .system("a thread", failure)
    }
}

private final class Work {
    let body: @Sendable () -> Void

    init(_ body: @escaping @Sendable () -> Void) {
        self.body = body
    }
}
