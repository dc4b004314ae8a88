import Glibc

/// Where the daemon speaks to whoever started it, before there is a log.
package enum StandardError {
    /// Writes one line, under the program's name.
    package static func say(_ line: String) {
        let bytes = Array("\(Version.name): \(line)\n".utf8)
        // A line that cannot be written is lost: there is nowhere left to complain.
        _ = write(STDERR_FILENO, bytes, bytes.count)
    }
}
