import Foundation
import Synchronization

/// Starts a process with its own three standard descriptors and the passed descriptors. No other descriptor of this
/// process stays open in it.
///
/// Foundation's `Process` is not used. It detects the end of a child by a socket that the child keeps open. A child
/// such as `systemd-socket-activate` closes unknown descriptors, and then `Process` waits forever on its only thread.
package struct Spawning {
    private let path: String
    private let arguments: [String]
    var environment: [String: String] = [:]
    /// The file for standard input. With `nil`, the process reads from the descriptor of its standard output.
    var inputPath: String? = "/dev/null"
    var output = Output.file("/dev/null")
    var errorPath = "/dev/null"
    /// The descriptors that the process gets as 3 and up.
    var passed: [Int32] = []
    /// Whether the process leads a new session. The first terminal that it opens becomes its controlling terminal.
    var leadsSession = false

    enum Output {
        case file(String)
        case descriptor(Int32)
    }

    package init(_ path: String, _ arguments: [String]) {
        (self.path, self.arguments) = (path, arguments)
    }

    /// - Returns: The process id. The caller must wait for the process.
    package func start() throws -> Int32 {
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        let writing = O_WRONLY | O_CREAT | O_APPEND
        switch output {
        case .file(let path): posix_spawn_file_actions_addopen(&actions, 1, path, writing, 0o600)
        case .descriptor(let descriptor): posix_spawn_file_actions_adddup2(&actions, descriptor, 1)
        }
        if let inputPath {
            posix_spawn_file_actions_addopen(&actions, 0, inputPath, O_RDONLY, 0)
        } else {
            posix_spawn_file_actions_adddup2(&actions, 1, 0)
        }
        posix_spawn_file_actions_addopen(&actions, 2, errorPath, writing, 0o600)
        // Copies with high numbers, so that no descriptor is overwritten before it is moved.
        let copies = passed.map { fcntl($0, F_DUPFD_CLOEXEC, 100) }
        defer { copies.forEach { close($0) } }
        for (index, copy) in copies.enumerated() {
            posix_spawn_file_actions_adddup2(&actions, copy, 3 + Int32(index))
        }
        // Some libraries (SwiftNIO, Foundation) open descriptors without close-on-exec.
        _ = Self.addCloseFrom?(&actions, 3 + Int32(passed.count))

        // The threads of the test runner block signals, and a child would inherit the signal mask.
        var attributes = posix_spawnattr_t()
        posix_spawnattr_init(&attributes)
        defer { posix_spawnattr_destroy(&attributes) }
        var (none, all) = (sigset_t(), sigset_t())
        sigemptyset(&none)
        sigfillset(&all)
        posix_spawnattr_setsigmask(&attributes, &none)
        posix_spawnattr_setsigdefault(&attributes, &all)
        let session = leadsSession ? Self.setSession : 0
        posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | session))

        var identifier = pid_t()
        let failed = withCStrings([path] + arguments) { arguments in
            withCStrings(environment.map { "\($0.key)=\($0.value)" }) { environment in
                posix_spawn(&identifier, path, &actions, &attributes, arguments, environment)
            }
        }
        guard failed == 0 else {
            throw TestFailure("\(path) does not start", errno: failed)
        }
        return identifier
    }

    /// `POSIX_SPAWN_SETSID` of glibc 2.26, which Swift does not import.
    private static let setSession: Int32 = 0x80

    /// `posix_spawn_file_actions_addclosefrom_np` of glibc 2.34, which Swift does not import.
    private static let addCloseFrom: AddCloseFrom? = dlsym(nil, "posix_spawn_file_actions_addclosefrom_np").map {
        unsafeBitCast($0, to: AddCloseFrom.self)
    }
    private typealias AddCloseFrom = @convention(c) (UnsafeMutablePointer<posix_spawn_file_actions_t>, Int32) -> Int32

    private func withCStrings<Result>(
        _ strings: [String],
        _ body: ([UnsafeMutablePointer<CChar>?]) -> Result
    ) -> Result {
        let copies = strings.map { strdup($0) }
        defer { copies.forEach { free($0) } }
        return body(copies + [nil])
    }
}

/// The wait status of a process, available after the process has ended.
final class EndStatus: Sendable {
    private let status = Mutex<Int32?>(nil)

    var value: Int32? { status.withLock { $0 } }

    func awaitEnd(of identifier: pid_t) {
        var ending: Int32 = 0
        while waitpid(identifier, &ending, 0) < 0, errno == EINTR {}
        status.withLock { $0 = ending }
    }
}
