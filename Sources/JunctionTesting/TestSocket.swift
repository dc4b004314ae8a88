import Foundation

/// One end of a connection, plain and blocking. A peer that is silent for too long is an error, never a hang.
///
/// One thread may send while another one reads.
package final class TestSocket: @unchecked Sendable {
    package let descriptor: Int32
    /// What the peer sends.
    package let lines: LineReader

    /// Connects.
    ///
    /// - Parameter patience: how many seconds of silence are a failure.
    package convenience init(_ address: TestAddress, patience: Int = 60) throws {
        let descriptor = address.makeSocket()
        self.init(adopting: descriptor, patience: patience)
        guard address.connect(descriptor) else { throw TestFailure("connect to \(address)", errno: errno) }
    }

    /// Takes over a socket, and closes it in the end. Another process may connect it.
    package init(adopting descriptor: Int32, patience: Int = 60) {
        self.descriptor = descriptor
        lines = LineReader(descriptor, patience: patience)
        var limit = timeval(tv_sec: patience, tv_usec: 0)
        setsockopt(descriptor, SOL_SOCKET, SO_SNDTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
    }

    package func send(_ text: String) throws {
        try send(Array(text.utf8))
    }

    package func send(_ bytes: [UInt8]) throws {
        guard send(bytes, 0) == bytes.count else { throw TestFailure("send", errno: errno) }
    }

    /// Sends as much as the kernel takes at once, and returns how much that was.
    @discardableResult
    package func sendWhatFits(_ bytes: [UInt8]) -> Int {
        send(bytes, MSG_DONTWAIT)
    }

    private func send(_ bytes: [UInt8], _ flags: Int) -> Int {
        var sent = 0
        while sent < bytes.count {
            let count = bytes[sent...].withUnsafeBytes {
                Glibc.send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL | flags))
            }
            guard count > 0 else { break }
            sent += count
        }
        return sent
    }

    /// Asks the kernel to keep so much of what was sent and not read yet, as far as it lets programs.
    package func setSendBuffer(_ size: Int32) {
        var size = size
        setsockopt(descriptor, SOL_SOCKET, SO_SNDBUF, &size, socklen_t(MemoryLayout<Int32>.size))
    }

    /// Whether something has come, or the end.
    package var hasInput: Bool {
        var asked = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        return poll(&asked, 1, 0) > 0
    }

    /// Ends the sending; what the peer answers can still be read.
    package func finishSending() {
        shutdown(descriptor, Int32(SHUT_WR))
    }

    /// Ends both directions, as a process that ends does.
    package func hangUp() {
        shutdown(descriptor, Int32(SHUT_RDWR))
    }

    deinit { close(descriptor) }
}

/// Listens, and closes the socket in the end.
package final class TestListener: Sendable {
    package let address: TestAddress
    package let descriptor: Int32

    /// - Parameters:
    ///   - backlog: how many clients may wait to be accepted, besides the first one.
    ///   - receiveBuffer: how much of what a client sends the kernel keeps; without it, the kernel's choice.
    package init(_ address: TestAddress = .loopback(port: 0), backlog: Int32 = 64, receiveBuffer: Int32? = nil) throws {
        let descriptor = address.makeSocket()
        self.descriptor = descriptor
        if var receiveBuffer {
            setsockopt(descriptor, SOL_SOCKET, SO_RCVBUF, &receiveBuffer, socklen_t(MemoryLayout<Int32>.size))
        }
        let isBound = address.bind(descriptor)
        if case .loopback(port: 0, _) = address {
            var bound = sockaddr_in()
            var size = socklen_t(MemoryLayout<sockaddr_in>.size)
            withUnsafeMutablePointer(to: &bound) { pointer in
                _ = pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { getsockname(descriptor, $0, &size) }
            }
            self.address = .loopback(port: UInt16(bigEndian: bound.sin_port))
        } else {
            self.address = address
        }
        guard isBound, listen(descriptor, backlog) == 0 else { throw TestFailure("listen at \(address)", errno: errno) }
    }

    /// The port, where it listens at one.
    package var port: UInt16 {
        if case .loopback(let port, _) = address { port } else { 0 }
    }

    /// The next connection; `nil` once this was stopped.
    package func accept(patience: Int = 60) -> TestSocket? {
        let connection = Glibc.accept(descriptor, nil, nil)
        guard connection >= 0 else { return nil }
        _ = fcntl(connection, F_SETFD, FD_CLOEXEC)
        return TestSocket(adopting: connection, patience: patience)
    }

    /// Serves one connection after the other on a thread of its own, until this is stopped.
    package func serve(_ body: @escaping @Sendable (TestSocket) -> Void) {
        // The thread keeps the listener: it never accepts from a number that has been given to another file.
        Thread.detachNewThread { while let connection = self.accept() { body(connection) } }
    }

    /// Accepts nothing more; a thread that waits in `accept` goes on.
    package func stop() {
        shutdown(descriptor, Int32(SHUT_RDWR))
    }

    deinit { close(descriptor) }
}

/// Waits on a thread of its own, so that no thread of the tests' is blocked.
package func onThread<Result: Sendable>(
    _ body: @escaping @Sendable () throws -> Result
) async throws -> Result {
    try await withCheckedThrowingContinuation { continuation in
        Thread.detachNewThread { continuation.resume(with: Swift.Result { try body() }) }
    }
}
