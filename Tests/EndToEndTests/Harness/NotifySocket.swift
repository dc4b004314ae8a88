import Foundation
import Synchronization

/// The service manager's end of the notify protocol: reads one datagram after the other, and keeps what it is given.
final class NotifySocket: Sendable {
    let path: String
    private let descriptor: Int32
    private let store = Mutex<[String: Int32]>([:])

    /// The descriptors in its care, by name (`FDSTORE=1`).
    var kept: [String: Int32] { store.withLock { $0 } }

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
        // One cmsghdr (16 bytes) and one descriptor, padded.
        var control = [UInt64](repeating: 0, count: 3)
        let count = buffer.withUnsafeMutableBytes { buffer in
            control.withUnsafeMutableBytes { control in
                var part = iovec(iov_base: buffer.baseAddress, iov_len: buffer.count)
                return withUnsafeMutablePointer(to: &part) { part in
                    var message = msghdr()
                    (message.msg_iov, message.msg_iovlen) = (part, 1)
                    (message.msg_control, message.msg_controllen) = (control.baseAddress, control.count)
                    return recvmsg(descriptor, &message, Int32(MSG_CMSG_CLOEXEC))
                }
            }
        }
        let text = String(decoding: buffer.prefix(max(0, count)), as: UTF8.self)
        let lines = text.split(separator: "\n").map(String.init)
        let passed = control.withUnsafeBytes { $0.load(fromByteOffset: 16, as: Int32.self) }
        mind(lines, passed: control[0] == 0 ? nil : passed)
        return lines
    }

    private func mind(_ lines: [String], passed: Int32?) {
        guard let name = lines.first(where: { $0.hasPrefix("FDNAME=") })?.dropFirst("FDNAME=".count) else { return }
        store.withLock { store in
            if lines.contains("FDSTORE=1") { store[String(name)] = passed }
            if lines.contains("FDSTOREREMOVE=1"), let old = store.removeValue(forKey: String(name)) { close(old) }
        }
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

    /// Reads everything that was said up to now.
    func catchUp() throws {
        while isReadable(within: 0) { _ = try next() }
    }

    private func isReadable(within seconds: Int32) -> Bool {
        var asked = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        return poll(&asked, 1, seconds * 1_000) > 0
    }

    deinit {
        close(descriptor)
        for descriptor in kept.values { close(descriptor) }
    }
}
