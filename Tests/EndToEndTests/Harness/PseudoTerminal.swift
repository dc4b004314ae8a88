import Foundation
import JunctionTesting

/// A terminal without a screen: a test types at it, and reads what a program shows.
final class PseudoTerminal {
    /// What the program opens.
    let path: String
    private let master: Int32
    private var shown = ""

    init() throws {
        master = open("/dev/ptmx", O_RDWR | O_NOCTTY | O_CLOEXEC)
        var (unlocked, number): (Int32, Int32) = (0, 0)
        // TIOCSPTLCK and TIOCGPTN, which Swift does not see.
        guard master >= 0, ioctl(master, 0x4004_5431, &unlocked) == 0, ioctl(master, 0x8004_5430, &number) == 0 else {
            throw Program.Failure(description: "There is no pseudo-terminal: \(String(cString: strerror(errno)))")
        }
        path = "/dev/pts/\(number)"
    }

    /// Types, as fast as the program reads.
    func type(_ text: String) {
        var rest = Array(text.utf8)[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { write(master, $0.baseAddress, $0.count) }
            guard count > 0 else { return }
            rest = rest.dropFirst(count)
        }
    }

    /// Waits until this is on the screen, behind what was waited for before.
    func awaitText(_ text: String) throws {
        while true {
            if let range = shown.range(of: text) {
                shown.removeSubrange(..<range.upperBound)
                return
            }
            guard let more = try read() else { throw Program.Failure(description: "\(text) did not come: \(shown)") }
            shown += more
        }
    }

    /// What else is on the screen when the program has ended.
    func rest() throws -> String {
        while let more = try read() { shown += more }
        return shown
    }

    /// Whether what is typed is shown, and edited by the terminal itself.
    var isAsUsual: Bool {
        var attributes = termios()
        return tcgetattr(master, &attributes) == 0
            && attributes.c_lflag & tcflag_t(ECHO | ICANON) == tcflag_t(ECHO | ICANON)
    }

    /// Nothing once nobody has it open any more.
    private func read() throws -> String? {
        var asked = pollfd(fd: master, events: Int16(POLLIN), revents: 0)
        guard poll(&asked, 1, 60_000) > 0 else { throw Program.Failure(description: "Nothing came; shown: \(shown)") }
        var chunk = [UInt8](repeating: 0, count: 4_096)
        let count = Foundation.read(master, &chunk, chunk.count)
        return count > 0 ? String(decoding: chunk.prefix(count), as: UTF8.self) : nil
    }

    deinit { close(master) }
}
