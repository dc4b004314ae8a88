import Glibc

/// A progress line on standard error. On a terminal it changes in place; elsewhere it is printed once.
final class ProgressLine {
    let isMoving = isatty(STDERR_FILENO) == 1
    private var shown: String?

    func show(_ text: String) {
        guard shown == nil || isMoving && shown != text else { return }
        shown = text
        if isMoving { StandardError.write("\r\u{1B}[K\(text)") } else { StandardError.note(text) }
    }

    /// Removes the line, if it can change.
    func clear() {
        if isMoving, shown != nil { StandardError.write("\r\u{1B}[K") }
        shown = nil
    }
}
