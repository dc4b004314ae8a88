import CLinux
import Glibc

/// A courier as a child of this process.
///
/// It ends when the thread that started it does (`clinux_start_program`), for that is how the kernel tells a child of its
/// parent's end, one that is stopped, too. So each has a thread of its own, which starts it, waits for its end, and ends
/// before only together with this process.
package final class CourierProcess: Sendable {
    /// Means this process and no other, whatever becomes of its number.
    private let descriptor: Int32

    private init(_ descriptor: Int32) { self.descriptor = descriptor }

    deinit { close(descriptor) }

    /// Ends it, even if somebody has stopped it; one that has ended is left alone.
    package func end() { _ = clinux_kill_process(descriptor) }

    /// Starts the program with one end of a pair of sockets as its standard input, and with nothing else of ours but
    /// standard error.
    ///
    /// - Returns: the other end, and the process; no process where the kernel has no descriptor for it.
    static func start(_ path: String) throws(CourierUnreachable) -> (socket: Int32, process: CourierProcess?) {
        var pair: [Int32] = [-1, -1]
        let type = Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue)
        guard socketpair(AF_UNIX, type, 0, &pair) == 0 else {
            throw CourierUnreachable(.program(path: path), errno: errno)
        }
        let birth = Birth(path, input: pair[1])
        let failure = start(birth)
        close(pair[1])
        guard failure == 0 else {
            close(pair[0])
            throw CourierUnreachable(.program(path: path), errno: failure)
        }
        return (pair[0], birth.descriptor.map { CourierProcess($0) })
    }

    /// - Returns: the errno of what failed, or zero.
    private static func start(_ birth: Birth) -> Int32 {
        var attributes = pthread_attr_t()
        pthread_attr_init(&attributes)
        defer { pthread_attr_destroy(&attributes) }
        pthread_attr_setdetachstate(&attributes, Int32(PTHREAD_CREATE_DETACHED))
        pthread_attr_setstacksize(&attributes, 1 << 16)
        var thread = pthread_t()
        let context = Unmanaged.passRetained(birth)
        let failure = pthread_create(
            &thread,
            &attributes,
            { argument in
                guard let argument else { return nil }
                let birth = Unmanaged<Birth>.fromOpaque(argument).takeRetainedValue()
                // Somebody has to ask how a child ended, or it stays as a zombie.
                if let process = birth.give() { while waitpid(process, nil, 0) < 0, errno == EINTR {} }
                return nil
            },
            context.toOpaque()
        )
        guard failure == 0 else {
            context.release()
            return failure
        }
        return birth.awaited()
    }
}

/// One start of a courier: asked for by one thread, made by another.
private final class Birth: @unchecked Sendable {
    // What came of it is written before, and read after, the semaphore is raised.
    private let path: String
    private let input: Int32
    private let isOver = UnsafeMutablePointer<sem_t>.allocate(capacity: 1)
    private var failure: Int32 = 0
    /// Of the process, once it is awaited.
    private(set) var descriptor: Int32?

    init(_ path: String, input: Int32) {
        (self.path, self.input) = (path, input)
        sem_init(isOver, 0, 0)
    }

    deinit {
        sem_destroy(isOver)
        isOver.deallocate()
    }

    /// - Returns: the process, if there is one.
    func give() -> pid_t? {
        var process: Int32 = 0
        failure = clinux_start_program(path, input, &process)
        let isBorn = failure == 0
        if isBorn {
            // Its number is its own until somebody asks how it ended, and that is us.
            let opened = clinux_open_process(process)
            descriptor = opened >= 0 ? opened : nil
        }
        sem_post(isOver)
        return isBorn ? process : nil
    }

    /// - Returns: the errno of what failed, or zero.
    func awaited() -> Int32 {
        while sem_wait(isOver) < 0, errno == EINTR {}
        return failure
    }
}
