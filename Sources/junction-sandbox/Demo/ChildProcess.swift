import Glibc

/// A program that the demo has started, with its output.
final class ChildProcess {
    private let id: pid_t
    private let output: Int32
    private var pending: [UInt8] = []
    private var ended: Int32?

    /// The timeout in milliseconds, longer than any step takes on a busy machine.
    private static let patience: Int32 = 60_000
    /// How long a program may take to end after a signal, in milliseconds.
    private static let farewell: Int32 = 20_000

    /// Starts a program with this process's environment, without the variables that configure the daemon or its
    /// clients.
    ///
    /// - Parameters:
    ///   - given: The text of standard input. Without it, standard input is empty.
    ///   - passed: A descriptor that the program gets as number 3.
    ///   - errors: The file for standard error.
    init(
        _ path: String,
        _ arguments: [String],
        environment: [String: String] = [:],
        given: String? = nil,
        passed: Int32? = nil,
        errors: String
    ) throws {
        let (reading, writing) = try Self.pipe()
        let (input, giving) = try Self.pipe()
        defer {
            close(writing)
            close(input)
            close(giving)
        }
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawn_file_actions_adddup2(&actions, input, STDIN_FILENO)
        posix_spawn_file_actions_adddup2(&actions, writing, STDOUT_FILENO)
        posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, errors, O_WRONLY | O_CREAT | O_APPEND, 0o600)
        // The last action, because one of the descriptors above may have the number 3.
        if let passed { posix_spawn_file_actions_adddup2(&actions, passed, 3) }

        let variables = Self.inherited + environment.map { "\($0.key)=\($0.value)" }
        var texts = ([path] + arguments).map { strdup($0) } + [nil]
        var named = variables.map { strdup($0) } + [nil]
        defer { for text in texts + named { free(text) } }
        // The current thread may block signals, and a program would inherit the signal mask.
        var attributes = posix_spawnattr_t()
        posix_spawnattr_init(&attributes)
        defer { posix_spawnattr_destroy(&attributes) }
        var none = sigset_t()
        sigemptyset(&none)
        posix_spawnattr_setsigmask(&attributes, &none)
        posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGMASK))
        var started: pid_t = 0
        let failure = posix_spawn(&started, path, &actions, &attributes, &texts, &named)
        guard failure == 0 else {
            close(reading)
            throw DemoFailure("\(path) cannot be started: \(String(cString: strerror(failure)))")
        }
        id = started
        output = reading
        // The text is small enough for the pipe to take it without blocking.
        let bytes = Array((given ?? "").utf8)
        _ = write(giving, bytes, bytes.count)
    }

    deinit { close(output) }

    /// Reads the next line of output. Returns `nil` at the end.
    func line() throws -> String? {
        while true {
            if let end = pending.firstIndex(of: UInt8(ascii: "\n")) {
                defer { pending.removeSubrange(...end) }
                return String(decoding: pending[..<end], as: UTF8.self)
            }
            guard try more() else { return nil }
        }
    }

    /// Reads all output up to the end.
    func rest() throws -> String {
        while try more() {}
        return String(decoding: pending, as: UTF8.self)
    }

    private func more() throws -> Bool {
        var wanted = [
            pollfd(fd: output, events: Int16(POLLIN), revents: 0),
            pollfd(fd: Interruption.descriptor, events: Int16(POLLIN), revents: 0),
        ]
        let ready = poll(&wanted, 2, Self.patience)
        if ready < 0, errno == EINTR { return true }
        guard wanted[1].revents == 0 else { throw Interruption() }
        guard ready > 0 else { throw DemoFailure("a program said nothing for a minute") }
        return readMore()
    }

    private func readMore() -> Bool {
        var buffer = [UInt8](repeating: 0, count: 4_096)
        let count = read(output, &buffer, buffer.count)
        pending += buffer.prefix(max(count, 0))
        return count > 0 || (count < 0 && errno == EINTR)
    }

    /// Waits for the end of the program and returns its exit code, or 128 plus the signal that killed it.
    func status() -> Int32 {
        if let ended { return ended }
        var word: Int32 = 0
        while waitpid(id, &word, 0) < 0, errno == EINTR {}
        let signal = word & 0x7f
        let status = signal == 0 ? (word >> 8) & 0xff : 128 + signal
        ended = status
        return status
    }

    /// Ends the program by a signal, or by SIGKILL if it does not end in time. Returns its status.
    @discardableResult
    func end(_ signal: Int32) -> Int32 {
        if let ended { return ended }
        kill(id, signal)
        // The output closes when the program ends. Until then the program may be blocked by a full pipe.
        var wanted = pollfd(fd: output, events: Int16(POLLIN), revents: 0)
        while poll(&wanted, 1, Self.farewell) > 0, readMore() {}
        if wanted.revents == 0 { kill(id, SIGKILL) }
        return status()
    }

    private static func pipe() throws -> (reading: Int32, writing: Int32) {
        var ends: [Int32] = [0, 0]
        guard Glibc.pipe(&ends) == 0 else {
            throw DemoFailure("no pipe can be made: \(String(cString: strerror(errno)))")
        }
        // No other process starts in between, because the demo uses one thread.
        for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        return (ends[0], ends[1])
    }

    private static var inherited: [String] {
        var variables: [String] = []
        var place = environ
        while let text = place.pointee {
            let variable = String(cString: text)
            if !variable.hasPrefix("JUNCTION") { variables.append(variable) }
            place += 1
        }
        return variables
    }
}

/// The error when a signal interrupts the demo.
struct Interruption: Error, CustomStringConvertible {
    let description = "it was interrupted"

    private static let ends: (reading: Int32, writing: Int32) = {
        var ends: [Int32] = [-1, -1]
        _ = Glibc.pipe(&ends)
        for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        return (ends[0], ends[1])
    }()

    /// A descriptor that becomes readable after an interruption, on any thread.
    static var descriptor: Int32 { ends.reading }

    /// Makes these signals end a wait instead of the process, so that the demo can end its child processes.
    static func listen() {
        _ = ends
        var action = sigaction()
        action.__sigaction_handler.sa_handler = { _ in _ = write(Interruption.ends.writing, "!", 1) }
        for signal in [SIGINT, SIGTERM, SIGHUP] { sigaction(signal, &action, nil) }
    }
}
