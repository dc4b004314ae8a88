import Glibc
import Synchronization

/// A thread that waits in one system call almost all the time, so that waiting causes no wake-ups.
final class WaitingThread: Sendable {
    private let handle: pthread_t

    init(_ body: @escaping @Sendable () -> Void) throws(SystemFailure) {
        var attributes = pthread_attr_t()
        pthread_attr_init(&attributes)
        defer { pthread_attr_destroy(&attributes) }
        pthread_attr_setstacksize(&attributes, WaitingThread.stackSize)

        let body = Unmanaged.passRetained(Body(body))
        var handle = pthread_t()
        let failure = pthread_create(&handle, &attributes, { WaitingThread.run($0) }, body.toOpaque())
        guard failure == 0 else {
            body.release()
            throw SystemFailure("start a thread", errno: failure)
        }
        self.handle = handle
    }

    /// Waits for the end of the thread. Call it exactly once.
    func join() { pthread_join(handle, nil) }

    /// Sends a signal to this thread alone.
    func signal(_ number: Int32) { pthread_kill(handle, number) }

    /// A small stack is enough, because the thread only hands events over. The default of 8 MiB would count against
    /// limits on address space.
    private static let stackSize = 256 << 10

    private static func run(_ argument: UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? {
        argument.map { Unmanaged<Body>.fromOpaque($0).takeRetainedValue().run() }
        return nil
    }

    private final class Body {
        let run: @Sendable () -> Void

        init(_ run: @escaping @Sendable () -> Void) { self.run = run }
    }
}

/// A flag that tells a waiting thread to end when it wakes up next.
final class Ending: Sendable {
    private let flag = Atomic(false)

    var hasBegun: Bool { flag.load(ordering: .acquiring) }

    /// Returns whether this was the first call.
    @discardableResult
    func begin() -> Bool { !flag.exchange(true, ordering: .acquiringAndReleasing) }
}
