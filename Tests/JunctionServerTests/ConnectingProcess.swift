import Glibc
import JunctionServer
import Testing

/// A process of its own that connects as an ordinary user, and keeps still until it is to end. The test has the other end
/// of the same connection in hand, as whoever inherits a descriptor has.
final class ConnectingProcess {
    let connection: TestClient
    let process: Int32
    private let life: Int32

    init(_ path: String, as caller: OrdinaryCaller = OrdinaryCaller()) throws {
        let descriptor = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        // Perl is part of every Debian, and speaks with sockets.
        let script = """
            use Socket; open(my $s, "+<&=", 3) or die;
            $) = "\(caller.group) \(caller.group)"; $( = \(caller.group); ($<, $>) = (\(caller.user)) x 2;
            connect($s, sockaddr_un($ARGV[0])) or die; syswrite(STDOUT, "c"); sysread(STDIN, my $end, 1);
            """
        let child = try Child(["/usr/bin/perl", "-e", script, path], passing: descriptor)
        (process, life) = (child.process, child.talk)
        connection = TestClient(adopting: descriptor)
        var connected: UInt8 = 0
        let count = read(child.talk, &connected, 1)
        try #require(count == 1, "The child could not connect")
    }

    /// Ends the process, and returns when nothing is left of it.
    func end() throws {
        close(life)
        var status: Int32 = 0
        try #require(waitpid(process, &status, 0) == process)
    }
}

/// A process that does nothing.
final class SleepingProcess {
    let process: Int32
    private let talk: Int32

    init() throws {
        let child = try Child(["/bin/cat"])
        process = child.process
        talk = child.talk
    }

    /// Returns when it has ended, and nobody has collected it yet.
    func waitForEnd() throws {
        var information = siginfo_t()
        try #require(waitid(P_PID, UInt32(process), &information, WEXITED | WNOWAIT) == 0)
    }

    func collect() {
        close(talk)
        var status: Int32 = 0
        waitpid(process, &status, 0)
    }
}

/// A program that was started, and a socket that is its input and output.
private struct Child {
    let process: Int32
    let talk: Int32

    /// - Parameter passed: becomes its descriptor 3.
    init(_ arguments: [String], passing passed: Int32? = nil) throws {
        var pair: [Int32] = [0, 0]
        try #require(socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0, &pair) == 0)
        defer { close(pair[1]) }
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        for standard: Int32 in [0, 1] { posix_spawn_file_actions_adddup2(&actions, pair[1], standard) }
        if let passed { posix_spawn_file_actions_adddup2(&actions, passed, 3) }

        var process: Int32 = 0
        let words = arguments.map { strdup($0) } + [nil]
        defer { for word in words { free(word) } }
        let failure = posix_spawn(&process, arguments[0], &actions, nil, words, environ)
        try #require(failure == 0, "\(arguments[0]) cannot be started: \(String(cString: strerror(failure)))")
        (self.process, talk) = (process, pair[0])
    }
}
