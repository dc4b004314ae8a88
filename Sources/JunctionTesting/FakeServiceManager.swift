import Foundation
import Synchronization

/// The service manager's end of the `sd_notify` protocol: a real datagram socket and a file-descriptor store.
package final class FakeServiceManager: Sendable {
    package enum Kind: Sendable {
        case path
        case abstract
    }

    /// The value of `NOTIFY_SOCKET`.
    package let name: String
    private let descriptor: Int32
    private let folder: TemporaryFolder?
    private let store = Mutex<[String: Int32]>([:])

    package init(_ kind: Kind) throws {
        let address: TestAddress
        switch kind {
        case .path:
            let folder = TemporaryFolder()
            self.folder = folder
            name = folder.path + "/notify"
            address = .path(name)
        case .abstract:
            folder = nil
            let unique = "junctiond-notify-\(UUID().uuidString)"
            name = "@" + unique
            address = .abstract(unique)
        }
        descriptor = address.makeSocket(SOCK_DGRAM)
        guard address.bind(descriptor) else { throw TestFailure("bind to \(name)", errno: errno) }
    }

    deinit {
        close(descriptor)
        for kept in kept.values { close(kept) }
    }

    // MARK: Datagrams

    /// Returns the next datagram, or `nil` if none has arrived.
    package func receive() -> String? {
        receiveWithDescriptor()?.text
    }

    /// Waits up to 60 seconds for the next datagram and returns it, or `nil` if none arrives.
    package func awaitDatagram() -> String? {
        isReadable(within: 60) ? receive() : nil
    }

    /// Returns whether a datagram arrives within this number of seconds.
    private func isReadable(within seconds: Int32) -> Bool {
        var coming = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        return poll(&coming, 1, seconds * 1_000) == 1
    }

    /// Returns the next datagram and the descriptor that came with it, if any.
    package func receiveWithDescriptor() -> (text: String, descriptor: Int32?)? {
        var text = [UInt8](repeating: 0, count: 8_192)
        // Space for one cmsghdr (16 bytes) and one padded descriptor.
        var control = [UInt64](repeating: 0, count: 3)
        let count = text.withUnsafeMutableBytes { text in
            control.withUnsafeMutableBytes { control in
                var part = iovec(iov_base: text.baseAddress, iov_len: text.count)
                return withUnsafeMutablePointer(to: &part) { part in
                    var message = msghdr()
                    (message.msg_iov, message.msg_iovlen) = (part, 1)
                    (message.msg_control, message.msg_controllen) = (control.baseAddress, control.count)
                    return recvmsg(descriptor, &message, Int32(MSG_DONTWAIT) | Int32(MSG_CMSG_CLOEXEC))
                }
            }
        }
        guard count >= 0 else { return nil }
        let passed = control.withUnsafeBytes { $0.load(fromByteOffset: 16, as: Int32.self) }
        let line = String(decoding: text.prefix(count), as: UTF8.self)
        return (line, control[0] == 0 ? nil : passed)
    }

    // MARK: A running service

    /// The descriptors in the store, by name (`FDSTORE=1`).
    package var kept: [String: Int32] { store.withLock { $0 } }

    /// Waits for the next datagram, stores the descriptor that came with it, and returns the lines.
    package func next() throws -> [String] {
        guard isReadable(within: 30), let (text, passed) = receiveWithDescriptor() else {
            throw TestFailure(description: "No notification came")
        }
        let lines = text.split(separator: "\n").map(String.init)
        if let name = lines.first(where: { $0.hasPrefix("FDNAME=") })?.dropFirst("FDNAME=".count) {
            store.withLock { store in
                if lines.contains("FDSTORE=1") { store[String(name)] = passed }
                if lines.contains("FDSTOREREMOVE=1"), let old = store.removeValue(forKey: String(name)) { close(old) }
            }
        }
        return lines
    }

    /// Reads datagrams until one has a line that fits, and returns all lines read.
    @discardableResult
    package func wait(_ what: String, for fits: (String) -> Bool) throws -> [String] {
        var lines: [String] = []
        while !lines.contains(where: fits) {
            do {
                lines += try next()
            } catch {
                throw TestFailure(description: "\(what) was not notified; what came: \(lines)")
            }
        }
        return lines
    }

    @discardableResult
    package func wait(for line: String) throws -> [String] {
        try wait(line) { $0 == line }
    }

    /// Waits until the program sends `READY=1`. Throws if the program ends first.
    package func waitUntilReady(_ program: Program) throws {
        while !isReadable(within: 1) {
            guard program.isRunning else {
                throw TestFailure(description: "It ended before it was ready: \(program.errors)")
            }
        }
        try wait(for: "READY=1")
    }

    /// Reads all datagrams that have arrived and returns their lines.
    @discardableResult
    package func catchUp() throws -> [String] {
        var lines: [String] = []
        while isReadable(within: 0) { lines += try next() }
        return lines
    }
}
