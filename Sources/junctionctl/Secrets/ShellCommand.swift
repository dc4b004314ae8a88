import Glibc
import JunctionProtocol

/// A command line of the user's whose output is a secret.
struct ShellCommand {
    var line: String
    /// What the command finds in its environment, besides all that we have in ours.
    var variables: [String: String] = [:]

    /// Runs it with `/bin/sh -c` and reads what it prints, which no file and no argument ever sees.
    func secretOutput(_ name: String) throws -> SecretText {
        var ends: [Int32] = [-1, -1]
        guard pipe(&ends) == 0 else { throw failure("there is no pipe: \(String(cString: strerror(errno)))") }
        let process = Result { try spawn(writingTo: ends[1], closing: ends[0]) }
        close(ends[1])
        let secret = Result { try SecretText(readingSecret: name, from: ends[0]) }
        // Whatever the command still has to say ends it, instead of blocking it for ever.
        close(ends[0])

        let status = waitForEnd(of: try process.get())
        if case .failure = secret, status & 0x7F == SIGPIPE { return try secret.get() }
        guard status == 0 else { throw failure(explanation(of: status)) }
        return try secret.get()
    }

    private func spawn(writingTo output: Int32, closing input: Int32) throws -> pid_t {
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawn_file_actions_adddup2(&actions, output, STDOUT_FILENO)
        posix_spawn_file_actions_addclose(&actions, input)
        if output != STDOUT_FILENO { posix_spawn_file_actions_addclose(&actions, output) }

        // What this program ignores is not for the command to ignore.
        var attributes = posix_spawnattr_t()
        posix_spawnattr_init(&attributes)
        defer { posix_spawnattr_destroy(&attributes) }
        var defaults = sigset_t()
        sigemptyset(&defaults)
        sigaddset(&defaults, SIGPIPE)
        posix_spawnattr_setsigdefault(&attributes, &defaults)
        posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGDEF))

        var process = pid_t()
        let arguments = ["/bin/sh", "-c", line]
        let failed = withCStrings(arguments) { arguments in
            withCStrings(environment()) { environment in
                posix_spawn(&process, "/bin/sh", &actions, &attributes, arguments, environment)
            }
        }
        guard failed == 0 else { throw failure("/bin/sh does not start: \(String(cString: strerror(failed)))") }
        return process
    }

    /// Our own environment, with the variables in place of those of the same name.
    private func environment() -> [String] {
        var entries: [String] = []
        var next = environ
        while let entry = next.pointee {
            let text = String(cString: entry)
            if !variables.keys.contains(where: { text.hasPrefix("\($0)=") }) { entries.append(text) }
            next += 1
        }
        return entries + variables.map { "\($0.key)=\($0.value)" }
    }

    private func waitForEnd(of process: pid_t) -> Int32 {
        var status: Int32 = 0
        while waitpid(process, &status, 0) < 0, errno == EINTR {}
        return status
    }

    private func explanation(of status: Int32) -> String {
        let signal = status & 0x7F
        return signal == 0 ? "it ended with exit code \(status >> 8 & 0xFF)" : "signal \(signal) ended it"
    }

    private func failure(_ why: String) -> CommandFailure {
        CommandFailure(
            "the token command failed: \(why)",
            kind: "tokenCommandFailed",
            remedy: "nothing has changed; run the command by hand to see why"
        )
    }
}

/// Calls `body` with a list of C strings that ends with a null pointer.
private func withCStrings<Result>(
    _ strings: [String],
    _ body: ([UnsafeMutablePointer<CChar>?]) -> Result
) -> Result {
    let copies = strings.map { strdup($0) }
    defer { copies.forEach { free($0) } }
    return body(copies + [nil])
}
