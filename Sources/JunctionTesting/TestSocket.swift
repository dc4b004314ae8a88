import Foundation

/// One end of a connection, as a blocking socket. If the peer is silent for too long, a call throws instead of blocking
/// forever.
///
/// One thread may send while another one reads.
package final class TestSocket: @unchecked Sendable {
    package let descriptor: Int32
    /// Reads the data that the peer sends. It owns the descriptor, because it may be used after this object.
    package let lines: LineReader

    /// - Parameter patience: The number of seconds without data that count as a failure.
    package convenience init(_ address: TestAddress, patience: Int = 60) throws {
        let descriptor = address.makeSocket()
        self.init(adopting: descriptor, patience: patience)
        guard address.connect(descriptor) else { throw TestFailure("connect to \(address)", errno: errno) }
    }

    /// Takes ownership of a socket, which is closed when neither this object nor `lines` is used any more. Another
    /// process may connect the socket.
    package init(adopting descriptor: Int32, patience: Int = 60) {
        self.descriptor = descriptor
        lines = LineReader(descriptor, ownsDescriptor: true, patience: patience)
        var limit = timeval(tv_sec: patience, tv_usec: 0)
        setsockopt(descriptor, SOL_SOCKET, SO_SNDTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
    }

    package func send(_ text: String) throws {
        try send(Array(text.utf8))
    }

    package func send(_ bytes: [UInt8]) throws {
        guard send(bytes, 0) == bytes.count else { throw TestFailure("send", errno: errno) }
    }

    /// Sends as many bytes as the kernel accepts without blocking, and returns their number.
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

    /// Sets the size of the send buffer (`SO_SNDBUF`), within the limit of the kernel.
    package func setSendBuffer(_ size: Int32) {
        var size = size
        setsockopt(descriptor, SOL_SOCKET, SO_SNDBUF, &size, socklen_t(MemoryLayout<Int32>.size))
    }

    /// Whether data or the end of the stream can be read now.
    package var hasInput: Bool {
        var asked = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        return poll(&asked, 1, 0) > 0
    }

    /// Shuts down the sending direction. Answers of the peer can still be read.
    package func finishSending() {
        shutdown(descriptor, Int32(SHUT_WR))
    }

    /// Shuts down both directions, as the end of a process does.
    package func closeConnection() {
        shutdown(descriptor, Int32(SHUT_RDWR))
    }
}

/// A listening socket that is closed on deinitialization.
package final class TestListener: Sendable {
    package let address: TestAddress
    package let descriptor: Int32

    /// - Parameters:
    ///   - backlog: The number of clients that may wait to be accepted, in addition to the first one.
    ///   - receiveBuffer: The size of the receive buffer of each connection. Without it, the kernel chooses the size.
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

    /// The port of a loopback address, otherwise 0.
    package var port: UInt16 {
        if case .loopback(let port, _) = address { port } else { 0 }
    }

    /// Waits for the next connection. Returns `nil` after `stop()`.
    package func accept(patience: Int = 60) -> TestSocket? {
        let connection = Glibc.accept(descriptor, nil, nil)
        guard connection >= 0 else { return nil }
        _ = fcntl(connection, F_SETFD, FD_CLOEXEC)
        return TestSocket(adopting: connection, patience: patience)
    }

    /// Serves the connections one after another on a new thread until `stop()`.
    package func serve(_ body: @escaping @Sendable (TestSocket) -> Void) {
        // The thread retains the listener, so that it never accepts from a descriptor number that was closed and
        // reused.
        Thread.detachNewThread { while let connection = self.accept() { body(connection) } }
    }

    /// Stops accepting. A thread that is blocked in `accept` continues.
    package func stop() {
        shutdown(descriptor, Int32(SHUT_RDWR))
    }

    deinit { close(descriptor) }
}

/// Runs a blocking function on a new thread, so that it blocks no thread of the test runner.
package func onThread<Result: Sendable>(
    _ body: @escaping @Sendable () throws -> Result
) async throws -> Result {
    try await withCheckedThrowingContinuation { continuation in
        Thread.detachNewThread { continuation.resume(with: Swift.Result { try body() }) }
    }
}
