import Glibc

let version = "0.1.0"

let help = """
    junctiond-courier carries HTTPS requests for junctiond, which has no network of its own.

    junctiond starts it, or systemd starts it for a connection to its socket. Do not start it by hand.
    """

enum StandardError {
    /// Writes one line to the journal.
    static func say(_ words: String) {
        var line = Array("junctiond-courier: \(words)\n".utf8)
        _ = write(STDERR_FILENO, &line, line.count)
    }
}
