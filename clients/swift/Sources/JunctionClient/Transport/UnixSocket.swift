import Glibc
import Synchronization

/// One end of a Unix socket. It is closed when the last reference to it is released.
final class UnixSocket: Sendable {
    let descriptor: Int32
    /// Held while a whole line is sent, because two threads may send on one connection.
    private let sending = Mutex(())

    init() throws(JunctionError) {
        descriptor = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        guard descriptor >= 0 else { throw .system("a socket", errno) }
    }

    deinit {
        close(descriptor)
    }

    /// Connects, and waits while the daemon's backlog is full.
    func connect(to path: SocketPath, by deadline: Deadline = .never) throws(JunctionError) {
        // For a Unix socket, the send timeout also limits `connect`.
        if let limit = deadline.timeLeft { limitSending(limit) }
        defer { if deadline != .never { limitSending(timeval()) } }
        let failure = try path.withAddress { address, length in
            while Glibc.connect(descriptor, address, length) != 0 {
                guard errno == EINTR else { return errno }
            }
            return 0
        }
        if failure == EAGAIN, deadline != .never { throw .timedOut }
        if failure != 0 { throw .connecting(to: path, failure) }
    }

    /// Sets the send timeout; zero means no limit.
    private func limitSending(_ time: timeval) {
        var time = time
        setsockopt(descriptor, SOL_SOCKET, SO_SNDTIMEO, &time, socklen_t(MemoryLayout<timeval>.size))
    }

    /// Sends all bytes, and waits until the kernel has taken them.
    func send(_ bytes: UnsafeRawBufferPointer, by deadline: Deadline = .never) throws(JunctionError) {
        try sending.withLock { _ throws(JunctionError) in
            var rest = bytes
            while true {
                rest = UnsafeRawBufferPointer(rebasing: rest[try sendWithoutWaiting(rest)...])
                if rest.isEmpty { return }
                var waited = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
                if poll(&waited, 1, deadline.pollTimeout) == 0, deadline.hasPassed { throw .timedOut }
            }
        }
    }

    /// Sends as many bytes as fit without waiting, and returns their number.
    func sendWithoutWaiting(_ bytes: UnsafeRawBufferPointer) throws(JunctionError) -> Int {
        while true {
            // Without MSG_NOSIGNAL, SIGPIPE would kill the program if the daemon has gone.
            let sent = Glibc.send(descriptor, bytes.baseAddress, bytes.count, Int32(MSG_DONTWAIT | MSG_NOSIGNAL))
            if sent >= 0 { return sent }
            if errno == EAGAIN { return 0 }
            guard errno == EINTR else { throw .connectionLost }
        }
    }

    /// Receives at least one byte. Returns `false` at the end of the input.
    func receive(into buffer: WipedBuffer) throws(JunctionError) -> Bool {
        var received = 0
        try buffer.fill(atLeast: 4096) { room throws(JunctionError) in
            repeat {
                received = recv(descriptor, room.baseAddress, room.count, 0)
            } while received < 0 && errno == EINTR
            guard received >= 0 else { throw .connectionLost }
            return received
        }
        return received > 0
    }
}

/// Waits until the socket is readable, or without a socket until the deadline.
///
/// - Throws: `timedOut` at the deadline, `cancelled` when the interruption comes.
func waitForInput(
    from socket: UnixSocket?,
    until deadline: Deadline,
    unless interruption: Interruption?
) throws(JunctionError) {
    var waited = [
        pollfd(fd: socket?.descriptor ?? -1, events: Int16(POLLIN), revents: 0),
        pollfd(fd: interruption?.descriptor ?? -1, events: interruption?.events ?? 0, revents: 0),
    ]
    while true {
        let ready = poll(&waited, 2, deadline.pollTimeout)
        if ready < 0 {
            guard errno == EINTR else { throw .system("a wait for the daemon", errno) }
            continue
        }
        if waited[1].revents != 0 { throw .cancelled }
        if ready > 0 { return }
        if deadline.hasPassed { throw .timedOut }
    }
}

extension JunctionError {
    /// The error for a resource that the kernel refused.
    static func system(_ what: String, _ number: Int32) -> JunctionError {
        JunctionError(.localFailure, "this program cannot have \(what): \(String(cString: strerror(number)))")
    }

    /// The error for a failed `connect`.
    fileprivate static func connecting(to path: SocketPath, _ number: Int32) -> JunctionError {
        switch number {
        case EACCES, EPERM:
            closed(path)
        case ENOENT:
            JunctionError(.daemonUnreachable, "there is no socket at \(path)")
        case ECONNREFUSED:
            JunctionError(.daemonUnreachable, "nobody listens on the socket at \(path)")
        default:
            JunctionError(.daemonUnreachable, "cannot connect to \(path): \(String(cString: strerror(number)))")
        }
    }
}

extension JunctionError {
    /// The error for a socket that this user must not open.
    private static func closed(_ path: SocketPath) -> JunctionError {
        var error = JunctionError(.permissionDenied, "this user may not open the socket at \(path)")
        error.advice = SocketPermission(on: path.text)?.remedy(
            for: .current,
            in: SystemService.ofThisProcess,
            .ofThisMachine
        )
        return error
    }
}
