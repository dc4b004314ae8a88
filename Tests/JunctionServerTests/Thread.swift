import Glibc
import Synchronization

/// A thread that can be joined.
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

/// Passes a value from one thread to another.
final class Box<Value: Sendable>: Sendable {
    private let result = Mutex<Result<Value, any Error>?>(nil)

    func set(_ make: () throws -> Value) {
        result.withLock { $0 = Result { try make() } }
    }

    func get() throws -> Value {
        try result.withLock { $0! }.get()
    }
}
