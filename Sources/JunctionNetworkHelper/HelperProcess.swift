import CLinux
import Glibc

/// A network helper that runs as a child of this process.
///
/// The kernel kills the child when the thread that started it ends (`clinux_start_program`), even if the child is
/// stopped. So each child has a thread of its own. The thread starts the child, waits for it, and ends earlier only if
/// the whole process ends.
package final class HelperProcess: Sendable {
    /// A process descriptor: it never refers to another process that reuses the number.
    private let descriptor: Int32

    private init(_ descriptor: Int32) { self.descriptor = descriptor }

    deinit { close(descriptor) }

    /// Kills the process, even if it is stopped. Does nothing if the process has ended.
    package func end() { _ = clinux_kill_process(descriptor) }

    /// Starts the program with one end of a socket pair as its standard input. It inherits standard error and no other
    /// descriptor.
    ///
    /// - Returns: the other end, and the process. The process is `nil` if the kernel has no descriptor for it.
    static func start(_ path: String) throws(HelperUnreachable) -> (socket: Int32, process: HelperProcess?) {
        var pair: [Int32] = [-1, -1]
        let type = Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue)
        guard socketpair(AF_UNIX, type, 0, &pair) == 0 else {
            throw HelperUnreachable(.program(path: path), errno: errno)
        }
        let helperStart = HelperStart(path, input: pair[1])
        let failure = start(helperStart)
        close(pair[1])
        guard failure == 0 else {
            close(pair[0])
            throw HelperUnreachable(.program(path: path), errno: failure)
        }
        return (pair[0], helperStart.descriptor.map { HelperProcess($0) })
    }

    /// - Returns: the errno, or zero.
    private static func start(_ helperStart: HelperStart) -> Int32 {
        var attributes = pthread_attr_t()
        pthread_attr_init(&attributes)
        defer { pthread_attr_destroy(&attributes) }
        pthread_attr_setdetachstate(&attributes, Int32(PTHREAD_CREATE_DETACHED))
        pthread_attr_setstacksize(&attributes, 1 << 16)
        var thread = pthread_t()
        let context = Unmanaged.passRetained(helperStart)
        let failure = pthread_create(
            &thread,
            &attributes,
            { argument in
                guard let argument else { return nil }
                let helperStart = Unmanaged<HelperStart>.fromOpaque(argument).takeRetainedValue()
                // A child stays a zombie until its parent waits for it.
                if let process = helperStart.give() { while waitpid(process, nil, 0) < 0, errno == EINTR {} }
                return nil
            },
            context.toOpaque()
        )
        guard failure == 0 else {
            context.release()
            return failure
        }
        return helperStart.awaited()
    }
}

/// The start of one network helper: one thread requests it, another thread does it.
private final class HelperStart: @unchecked Sendable {
    // The starting thread writes the result before it posts the semaphore; `awaited` reads it afterwards.
    private let path: String
    private let input: Int32
    private let isOver = UnsafeMutablePointer<sem_t>.allocate(capacity: 1)
    private var failure: Int32 = 0
    /// The descriptor of the process. Read it only after `awaited`.
    private(set) var descriptor: Int32?

    init(_ path: String, input: Int32) {
        (self.path, self.input) = (path, input)
        sem_init(isOver, 0, 0)
    }

    deinit {
        sem_destroy(isOver)
        isOver.deallocate()
    }

    /// - Returns: the process, or `nil` if the start failed.
    func give() -> pid_t? {
        var process: Int32 = 0
        failure = clinux_start_program(path, input, &process)
        let isBorn = failure == 0
        if isBorn {
            // The number cannot be reused yet: only this thread waits for the process.
            let opened = clinux_open_process(process)
            descriptor = opened >= 0 ? opened : nil
        }
        sem_post(isOver)
        return isBorn ? process : nil
    }

    /// - Returns: the errno, or zero.
    func awaited() -> Int32 {
        while sem_wait(isOver) < 0, errno == EINTR {}
        return failure
    }
}
