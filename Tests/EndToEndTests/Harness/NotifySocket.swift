import Foundation

/// The service manager's end of the notify protocol: reads one datagram after the other.
final class NotifySocket: Sendable {
    let path: String
    private let descriptor: Int32

    init(in folder: TemporaryFolder) throws {
        path = folder.fresh("notify")
        descriptor = makeSocket(AF_UNIX, SOCK_DGRAM)
        let bound = UnixAddress(path).withPointer { bind(descriptor, $0, $1) }
        guard bound == 0 else { throw Program.Failure(description: "The notify socket cannot be bound: \(errno)") }
    }

    /// The next message, as lines.
    func next() throws -> [String] {
        guard isReadable(within: 30) else { throw Program.Failure(description: "No notification came") }
        var buffer = [UInt8](repeating: 0, count: 4_096)
        let count = recv(descriptor, &buffer, buffer.count, 0)
        return String(decoding: buffer.prefix(max(0, count)), as: UTF8.self).split(separator: "\n").map(String.init)
    }

    /// Reads until a message has a line that fits, and returns all lines up to it.
    @discardableResult
    func wait(_ what: String, for fits: (String) -> Bool) throws -> [String] {
        var lines: [String] = []
        while !lines.contains(where: fits) {
            do {
                lines += try next()
            } catch {
                throw Program.Failure(description: "\(what) was not notified; what came: \(lines)")
            }
        }
        return lines
    }

    @discardableResult
    func wait(for line: String) throws -> [String] {
        try wait(line) { $0 == line }
    }

    /// Waits until the program says that it is ready, or has ended without.
    func waitUntilReady(_ program: Program) throws {
        while !isReadable(within: 1) {
            guard program.isRunning else {
                throw Program.Failure(description: "It ended before it was ready: \(program.errors)")
            }
        }
        try wait(for: "READY=1")
    }

    private func isReadable(within seconds: Int32) -> Bool {
        var asked = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        return poll(&asked, 1, seconds * 1_000) > 0
    }

    deinit { close(descriptor) }
}
