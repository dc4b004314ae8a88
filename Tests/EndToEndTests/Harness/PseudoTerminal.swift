import Foundation
import JunctionTesting

/// A pseudo-terminal. A test types on it and reads the screen.
final class PseudoTerminal {
    /// The path of the device that the program opens.
    let path: String
    private let master: Int32
    private var shown = ""

    init() throws {
        master = open("/dev/ptmx", O_RDWR | O_NOCTTY | O_CLOEXEC)
        var (unlocked, number): (Int32, Int32) = (0, 0)
        // TIOCSPTLCK and TIOCGPTN, which Swift does not import.
        guard master >= 0, ioctl(master, 0x4004_5431, &unlocked) == 0, ioctl(master, 0x8004_5430, &number) == 0 else {
            throw TestFailure(description: "There is no pseudo-terminal: \(String(cString: strerror(errno)))")
        }
        path = "/dev/pts/\(number)"
    }

    /// Types a text as fast as the program reads it.
    func type(_ text: String) {
        var rest = Array(text.utf8)[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { write(master, $0.baseAddress, $0.count) }
            guard count > 0 else { return }
            rest = rest.dropFirst(count)
        }
    }

    /// Waits until the text is on the screen after all text that was awaited before.
    func awaitText(_ text: String) throws {
        while true {
            if let range = shown.range(of: text) {
                shown.removeSubrange(..<range.upperBound)
                return
            }
            guard let more = try read() else { throw TestFailure(description: "\(text) did not come: \(shown)") }
            shown += more
        }
    }

    /// Waits until the program has ended, and returns the rest of the screen.
    func rest() throws -> String {
        while let more = try read() { shown += more }
        return shown
    }

    /// Whether the terminal echoes and edits input (ECHO, ICANON).
    var isAsUsual: Bool {
        var attributes = termios()
        return tcgetattr(master, &attributes) == 0
            && attributes.c_lflag & tcflag_t(ECHO | ICANON) == tcflag_t(ECHO | ICANON)
    }

    /// Returns `nil` when no process has the terminal open.
    private func read() throws -> String? {
        var asked = pollfd(fd: master, events: Int16(POLLIN), revents: 0)
        guard poll(&asked, 1, 60_000) > 0 else { throw TestFailure(description: "Nothing came; shown: \(shown)") }
        var chunk = [UInt8](repeating: 0, count: 4_096)
        let count = Foundation.read(master, &chunk, chunk.count)
        return count > 0 ? String(decoding: chunk.prefix(count), as: UTF8.self) : nil
    }

    deinit { close(master) }
}
