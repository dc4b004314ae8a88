import Glibc
import Synchronization

/// A thread that sleeps in one system call for most of its life, so that waiting costs no wake-ups.
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

    /// Waits for its end. Exactly once in its life.
    func join() { pthread_join(handle, nil) }

    /// Sends a signal to this thread alone.
    func signal(_ number: Int32) { pthread_kill(handle, number) }

    /// It only hands over; the usual 8 MiB would count against limits on address space.
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

/// Tells a waiting thread that the next thing which wakes it up is its end.
final class Ending: Sendable {
    private let flag = Atomic(false)

    var hasBegun: Bool { flag.load(ordering: .acquiring) }

    func begin() { flag.store(true, ordering: .releasing) }
}
