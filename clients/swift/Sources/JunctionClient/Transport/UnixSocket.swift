import Glibc
import Synchronization

/// One end of a Unix socket, closed when its last holder lets go.
final class UnixSocket: Sendable {
    let descriptor: Int32
    /// Held while a whole line is sent: two threads may answer on one connection.
    private let sending = Mutex(())

    init() throws(JunctionError) {
        descriptor = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        guard descriptor >= 0 else { throw .system("a socket", errno) }
    }

    deinit {
        close(descriptor)
    }

    /// Connects, and waits for the daemon to have space for one more.
    func connect(to path: SocketPath, by deadline: Deadline = .never) throws(JunctionError) {
        // For a Unix socket it is the limit of sending that ends the wait for space.
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

    /// No time at all is no limit.
    private func limitSending(_ time: timeval) {
        var time = time
        setsockopt(descriptor, SOL_SOCKET, SO_SNDTIMEO, &time, socklen_t(MemoryLayout<timeval>.size))
    }

    /// Sends all of it, and waits for the daemon to take it.
    func send(_ bytes: UnsafeRawBufferPointer, by deadline: Deadline = .never) throws(JunctionError) {
        guard deadline == .never else { return try send(bytes, within: deadline) }
        try sending.withLock { _ throws(JunctionError) in
            var rest = bytes
            while !rest.isEmpty {
                rest = UnsafeRawBufferPointer(rebasing: rest[try sendSome(rest, flags: 0)...])
            }
        }
    }

    /// The same, unless the daemon has not taken it in time.
    private func send(_ bytes: UnsafeRawBufferPointer, within deadline: Deadline) throws(JunctionError) {
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

    /// Sends what fits without waiting, and says how much that was.
    func sendWithoutWaiting(_ bytes: UnsafeRawBufferPointer) throws(JunctionError) -> Int {
        try sendSome(bytes, flags: Int32(MSG_DONTWAIT))
    }

    private func sendSome(_ bytes: UnsafeRawBufferPointer, flags: Int32) throws(JunctionError) -> Int {
        while true {
            // Without the flag a daemon that has gone would kill the program by SIGPIPE.
            let sent = Glibc.send(descriptor, bytes.baseAddress, bytes.count, flags | Int32(MSG_NOSIGNAL))
            if sent >= 0 { return sent }
            if errno == EAGAIN { return 0 }
            guard errno == EINTR else { throw .connectionLost }
        }
    }

    /// Receives what has come, and waits for at least one byte; `false` at the end of what the daemon says.
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

/// Waits until the socket can be read; without one, until the time is over.
///
/// - Throws: `timedOut` when the deadline comes first, `cancelled` when the interruption does.
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
    /// The kernel refused us something that every program gets.
    static func system(_ what: String, _ number: Int32) -> JunctionError {
        JunctionError(.localFailure, "this program cannot have \(what): \(String(cString: strerror(number)))")
    }

    /// Nobody could be reached at the path.
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
    /// The socket is there, and not for this user.
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
