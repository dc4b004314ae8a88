import Glibc
import JunctionClient
import JunctionProtocol

/// A command line of the user that prints a secret.
///
/// The command has its own process group, so that all its processes end with it: at the deadline, or when a signal ends
/// this program. The command may use this program's terminal.
struct ShellCommand {
    var line: String
    /// Variables for the command, in addition to this program's environment.
    var variables: [String: String] = [:]
    /// The command's standard input, instead of this program's.
    var input: [UInt8]?
    /// When the command must have ended.
    var deadline = Deadline.never

    /// Runs the command with `/bin/sh -c` and reads its output, which never becomes a file or an argument.
    func secretOutput(_ name: String) throws -> SecretText {
        let output = try Pipe(for: self)
        // A command with other input does not use the terminal.
        let job = input == nil ? JobControl() : nil
        let process: pid_t
        do {
            defer { close(output.writing) }
            process = try RunningCommand.begin { try spawn(writingTo: output, blocking: $0) }
        } catch {
            close(output.reading)
            throw error
        }
        defer { RunningCommand.end() }
        job?.begin(process)
        let secret = Result {
            try SecretText(readingSecret: name, from: output.reading, by: deadline, whileWaiting: job?.follow)
        }
        .mapError(unusable)
        // If the command writes more, SIGPIPE ends it. Otherwise it could block.
        close(output.reading)

        let status = waitForEnd(of: process, job)
        job?.end(isCut: status & 0x7F != 0)
        // ^C is also meant for this program, and for a script that runs it.
        if job != nil, [SIGINT, SIGQUIT].contains(status & 0x7F) { kill(0, status & 0x7F) }
        if deadline.hasPassed, status & 0x7F == SIGKILL || !secret.isSuccess { throw lateness }
        if status & 0x7F == SIGPIPE, !secret.isSuccess { return try secret.get() }
        guard status == 0 else { throw failure(explanation(of: status)) }
        return try secret.get()
    }

    private func spawn(writingTo output: Pipe, blocking signals: sigset_t) throws -> pid_t {
        let pipeWithInput = try input.map { try Pipe(for: self, holding: $0) }
        defer { if let pipeWithInput { close(pipeWithInput.reading) } }
        let arguments = ["/bin/sh", "-c", line]
        let (process, error) = withCStrings(environment()) { environment in
            Program.spawn(arguments, environment: environment, inOwnGroup: true, blocking: signals) { actions in
                posix_spawn_file_actions_adddup2(&actions, output.writing, STDOUT_FILENO)
                if let pipeWithInput {
                    posix_spawn_file_actions_adddup2(&actions, pipeWithInput.reading, STDIN_FILENO)
                }
            }
        }
        guard error == 0 else { throw failure("/bin/sh does not start: \(String(cString: strerror(error)))") }
        return process
    }

    /// Returns this program's environment, in which the variables replace those of the same name.
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

    /// Waits for the end of the command. After the deadline, it kills the command's process group.
    private func waitForEnd(of process: pid_t, _ job: JobControl?) -> Int32 {
        var status: Int32 = 0
        guard deadline != .never || job != nil else {
            while waitpid(process, &status, 0) < 0, errno == EINTR {}
            return status
        }
        // The command's output is closed, so it usually ends soon. Its background processes are killed as well.
        if deadline.hasPassed { kill(-process, SIGKILL) }
        while waitpid(process, &status, WNOHANG) == 0 {
            if deadline.hasPassed { kill(-process, SIGKILL) }
            job?.follow()
            poll(nil, 0, 10)
        }
        return status
    }

    private func explanation(of status: Int32) -> String {
        let signal = status & 0x7F
        return signal == 0 ? "it ended with exit code \(status >> 8 & 0xFF)" : "signal \(signal) ended it"
    }

    /// Returns the error about unusable output. It must not suggest standard input, because the command was the source.
    private func unusable(_ error: any Error) -> any Error {
        guard let failure = error as? CommandFailure else { return error }
        return failure.isAboutAbsence
            ? self.failure("it printed nothing") : self.failure("of what it printed, \(failure.what)")
    }

    private var lateness: CommandFailure {
        CommandFailure(
            "the token command failed: it was not done in time",
            kind: "tokenCommandFailed",
            remedy:
                "nothing has changed; give it longer by --timeout, or run the command by hand to see what takes so long",
            status: .temporary
        )
    }

    fileprivate func failure(_ why: String) -> CommandFailure {
        CommandFailure(
            "the token command failed: \(why)",
            kind: "tokenCommandFailed",
            remedy: "nothing has changed; run the command by hand to see why"
        )
    }
}

extension Result {
    fileprivate var isSuccess: Bool { if case .success = self { true } else { false } }
}

/// A pipe. A command inherits an end only if it is given one.
private struct Pipe {
    let reading: Int32
    let writing: Int32

    init(for command: ShellCommand) throws {
        var ends: [Int32] = [-1, -1]
        guard pipe(&ends) == 0 else {
            throw command.failure("there is no pipe: \(String(cString: strerror(errno)))")
        }
        (reading, writing) = (ends[0], ends[1])
        for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
    }

    /// Creates a pipe that contains the whole content. The writing end is closed.
    init(for command: ShellCommand, holding content: [UInt8]) throws {
        try self.init(for: command)
        defer { close(writing) }
        _ = fcntl(writing, F_SETFL, O_NONBLOCK)
        // The kernel's pipe buffer has 64 KiB.
        guard content.withUnsafeBytes({ write(writing, $0.baseAddress, $0.count) }) == content.count else {
            close(reading)
            throw command.failure("there is too much to tell it")
        }
    }
}

/// Calls `body` with a list of C strings that ends with a null pointer.
func withCStrings<Result>(
    _ strings: [String],
    _ body: ([UnsafeMutablePointer<CChar>?]) -> Result
) -> Result {
    let copies = strings.map { strdup($0) }
    defer { copies.forEach { free($0) } }
    return body(copies + [nil])
}
