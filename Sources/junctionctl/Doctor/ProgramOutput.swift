import Glibc
import JunctionClient

/// The output of another program, standard output and standard error together.
struct ProgramOutput: Equatable {
    var status: Int32
    var text: String

    /// Swift treats `\r\n` as one character, which ends a line, too.
    var lines: [Substring] { text.split(whereSeparator: \.isNewline) }
}

extension ProgramOutput {
    /// A program that hangs must not delay a report about what hangs.
    private static let patience = Duration.seconds(10)
    /// In bytes; the rest is left out.
    private static let longest = 1 << 18

    /// Runs a program from `$PATH` without terminal input. Returns nil if it does not exist or does not end in time.
    init?(of name: String, _ arguments: [String]) {
        guard let program = name.contains("/") ? name : Program.path(of: name) else { return nil }
        var ends: [Int32] = [-1, -1]
        guard pipe(&ends) == 0 else { return nil }
        for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        let (process, error) = Program.spawn([program] + arguments) { actions in
            posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0)
            posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO)
            posix_spawn_file_actions_adddup2(&actions, ends[1], STDERR_FILENO)
        }
        close(ends[1])
        defer { close(ends[0]) }
        guard error == 0 else { return nil }
        let deadline = Deadline.after(Self.patience)
        let bytes = Self.read(ends[0], by: deadline)
        if deadline.hasPassed { kill(process, SIGKILL) }
        var status: Int32 = 0
        while waitpid(process, &status, 0) < 0, errno == EINTR {}
        guard status & 0x7F == 0 else { return nil }
        self.init(status: status >> 8 & 0xFF, text: String(decoding: bytes, as: UTF8.self))
    }

    private static func read(_ file: Int32, by deadline: Deadline) -> [UInt8] {
        var bytes: [UInt8] = []
        var chunk = [UInt8](repeating: 0, count: 16_384)
        while bytes.count < longest {
            var waited = pollfd(fd: file, events: Int16(POLLIN), revents: 0)
            let ready = poll(&waited, 1, deadline.pollTimeout)
            if ready < 0, errno == EINTR { continue }
            guard ready > 0 else { break }
            let count = Glibc.read(file, &chunk, chunk.count)
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { break }
            bytes += chunk.prefix(count)
        }
        return bytes
    }
}
