import Glibc

/// One line on standard error about something that takes its time: on a terminal it changes in place, elsewhere it is there
/// once.
final class ProgressLine {
    /// Whether it can change.
    let isMoving = isatty(STDERR_FILENO) == 1
    private var shown: String?

    func show(_ text: String) {
        guard shown == nil || isMoving && shown != text else { return }
        shown = text
        if isMoving { StandardError.write("\r\u{1B}[K\(text)") } else { StandardError.note(text) }
    }

    /// Takes it away, where that can be done.
    func clear() {
        if isMoving, shown != nil { StandardError.write("\r\u{1B}[K") }
        shown = nil
    }
}
