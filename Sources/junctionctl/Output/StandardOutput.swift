import Glibc
import JunctionJSON

/// The output of a verb, written at once so that a pipe gets every line in time.
///
/// A file or a pipe gets the bytes unchanged. On a terminal they are escaped, because many of them come from outside.
enum StandardOutput {
    private static let isTerminal = isatty(STDOUT_FILENO) == 1

    static func line(_ text: String) throws {
        try self.text(text + "\n")
    }

    /// Writes the beginning of a line.
    static func text(_ text: String) throws {
        var text = text
        try text.withUTF8 { try write(UnsafeRawBufferPointer($0)) }
    }

    static func line(_ json: JSONValue) throws {
        try json.withView { try write($0.rawText) }
        try line("")
    }

    /// Writes a JSON document that this program creates.
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

    /// Writes bytes that this program has created for a terminal.
    static func writeUnchanged(_ bytes: UnsafeRawBufferPointer) throws {
        var rest = bytes
        while !rest.isEmpty {
            let written = Glibc.write(STDOUT_FILENO, rest.baseAddress, rest.count)
            if written >= 0 {
                rest = UnsafeRawBufferPointer(rebasing: rest[written...])
            } else if errno == EPIPE {
                // The reader has closed the pipe, as in `junctionctl watch | head -1`.
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

/// Messages besides the output.
enum StandardError {
    /// Writes one line without characters that a terminal would act on.
    static func line(_ text: String) {
        write(text.onOneLine + "\n")
    }

    /// Writes text that this program has created for a terminal.
    static func write(_ text: String) {
        var text = text
        text.withUTF8 { _ = Glibc.write(STDERR_FILENO, $0.baseAddress, $0.count) }
    }

    /// Writes a JSON document that this program creates, on one line.
    static func json(_ body: (inout JSONWriter) -> Void) {
        var writer = JSONWriter()
        body(&writer)
        writer.withUnsafeBytes { line(String(decoding: $0, as: UTF8.self)) }
    }

    /// Writes a message that is not an error.
    static func note(_ text: String) {
        line("junctionctl: \(text)")
    }
}
