import Glibc

let version = "0.1.0"

let help = """
    junctiond-courier carries HTTPS requests for junctiond, which has no network of its own.

    It is started by junctiond, or by systemd at /run/junctiond/courier.sock, and is of no use by hand.
    """

enum StandardError {
    /// Writes one line to the journal.
    static func say(_ words: String) {
        var line = Array("junctiond-courier: \(words)\n".utf8)
        _ = write(STDERR_FILENO, &line, line.count)
    }
}
