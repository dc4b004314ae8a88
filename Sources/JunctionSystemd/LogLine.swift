import Glibc
import Logging

/// A plain line, for terminals, containers and other supervisors.
///
/// On a terminal, each line begins with the name of its level. Otherwise, it begins with its priority, as in
/// `sd-daemon(3)`: `<5>Signed in`.
enum LogLine {
    /// Returns the bytes of an event's line, with its ending.
    static func bytes(of event: LogEvent, _ text: LogText, isTerminal: Bool) -> [UInt8] {
        let prefix = isTerminal ? "\(event.level): " : "<\(event.level.priority)>"
        return Array((prefix + text.line + "\n").utf8)
    }

    /// Writes one line, and waits until all of it is written.
    static func write(_ line: [UInt8], to descriptor: Int32) {
        var rest = line[...]
        // Usually one write is enough, which does not mix the lines of several processes.
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) }
            if count >= 0 {
                rest = rest.dropFirst(count)
            } else if errno == EAGAIN {
                var room = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
                poll(&room, 1, -1)
            } else if errno != EINTR {
                // If a line cannot be written, it is lost: there is no other place to report that.
                return
            }
        }
    }
}
