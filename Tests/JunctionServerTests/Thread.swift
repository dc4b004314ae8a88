import Dispatch
import Glibc
import Synchronization

/// A thread that can be waited for.
final class Thread: Sendable {
    private let handle: Mutex<pthread_t>

    init(_ body: @escaping @Sendable () -> Void) {
        var handle = pthread_t()
        let work = Unmanaged.passRetained(Work(body))
        let start: @convention(c) (UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? = { work in
            Unmanaged<Work>.fromOpaque(work!).takeRetainedValue().body()
            return nil
        }
        pthread_create(&handle, nil, start, work.toOpaque())
        self.handle = Mutex(handle)
    }

    func join() {
        _ = handle.withLock { pthread_join($0, nil) }
    }

    private final class Work: Sendable {
        let body: @Sendable () -> Void

        init(_ body: @escaping @Sendable () -> Void) {
            self.body = body
        }
    }
}

/// Something that one thread waits for and another one gives.
final class Signal: Sendable {
    private let semaphore = DispatchSemaphore(value: 0)

    func give() { semaphore.signal() }
    func wait() { semaphore.wait() }
}

/// Carries what one thread made to another one.
final class Box<Value: Sendable>: Sendable {
    private let result = Mutex<Result<Value, any Error>?>(nil)

    func set(_ make: () throws -> Value) {
        result.withLock { $0 = Result { try make() } }
    }

    func get() throws -> Value {
        try result.withLock { $0! }.get()
    }
}
