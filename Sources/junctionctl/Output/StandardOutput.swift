import Glibc
import JunctionJSON

/// What the user asked for, written at once so that a pipe sees every line when it is due.
///
/// A file or a pipe gets the bytes as they are; on a terminal they are escaped, because others have chosen many of them.
enum StandardOutput {
    private static let isTerminal = isatty(STDOUT_FILENO) == 1

    static func line(_ text: String) throws {
        try self.text(text + "\n")
    }

    /// The beginning of a line.
    static func text(_ text: String) throws {
        var text = text
        try text.withUTF8 { try write(UnsafeRawBufferPointer($0)) }
    }

    static func line(_ json: JSONValue) throws {
        try json.withRawText(write)
        try line("")
    }

    /// A document of our own.
    static func json(_ body: (inout JSONWriter) -> Void) throws {
        var writer = JSONWriter()
        body(&writer)
        try writer.withUnsafeBytes(write)
        try line("")
    }

    static func write(_ bytes: UnsafeRawBufferPointer) throws {
        if isTerminal, let escaped = TerminalText.escaped(bytes) {
            try escaped.withUnsafeBytes(writeUnchanged)
        } else {
            try writeUnchanged(bytes)
        }
    }

    /// Writes what this program itself has made for a terminal.
    static func writeUnchanged(_ bytes: UnsafeRawBufferPointer) throws {
        var rest = bytes
        while !rest.isEmpty {
            let written = Glibc.write(STDOUT_FILENO, rest.baseAddress, rest.count)
            if written >= 0 {
                rest = UnsafeRawBufferPointer(rebasing: rest[written...])
            } else if errno == EPIPE {
                // Whoever reads has what it wanted, as in `junctionctl watch | head -1`.
                exit(ExitStatus.done.rawValue)
            } else if errno != EINTR {
                throw CommandFailure(
                    "cannot write to standard output: \(String(cString: strerror(errno)))",
                    kind: "outputFailed",
                    remedy: "the daemon did what it was asked; see 'junctionctl status'"
                )
            }
        }
    }
}

/// What the user should know besides.
enum StandardError {
    /// One line, in which a terminal finds nothing to act on.
    static func line(_ text: String) {
        write(text.onOneLine + "\n")
    }

    /// What this program itself has made for a terminal.
    static func write(_ text: String) {
        var text = text
        text.withUTF8 { _ = Glibc.write(STDERR_FILENO, $0.baseAddress, $0.count) }
    }

    /// A document of our own, on one line.
    static func json(_ body: (inout JSONWriter) -> Void) {
        var writer = JSONWriter()
        body(&writer)
        writer.withUnsafeBytes { line(String(decoding: $0, as: UTF8.self)) }
    }

    /// Something that is not an error.
    static func note(_ text: String) {
        line("junctionctl: \(text)")
    }
}
