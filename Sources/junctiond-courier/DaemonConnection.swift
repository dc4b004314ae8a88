import CLinux
import Glibc
import JunctionNetworkHelper
import JunctionSecret

/// The connection to the daemon: receives its messages, and sends messages to it.
///
/// Sending blocks until the kernel has taken the message. The order matters: `leaving` must be sent before the request.
/// The daemon always reads, and it limits the data in flight, so blocking is short. If the daemon is not reading, the
/// helper waits and keeps sending watchdog heartbeats: the last message may be the answer that matters.
final class DaemonConnection {
    let socket: Int32
    /// Sends watchdog heartbeats to the service manager, also while the helper waits for the daemon.
    var signs = WatchdogHeartbeat { getenv($0).map { String(cString: $0) } }
    private var reader = FrameReader<DaemonMessage>()
    private let room = UnsafeMutableRawBufferPointer.allocate(byteCount: 1 << 16, alignment: 16)

    /// - Returns: `nil` if the descriptor is not a stream socket.
    init?(_ socket: Int32) {
        var type: Int32 = 0
        var size = socklen_t(MemoryLayout.size(ofValue: type))
        guard getsockopt(socket, SOL_SOCKET, SO_TYPE, &type, &size) == 0, type == SOCK_STREAM.rawValue else {
            return nil
        }
        let flags = fcntl(socket, F_GETFL)
        _ = fcntl(socket, F_SETFL, flags & ~O_NONBLOCK)
        self.socket = socket
    }

    /// Calls `each` with every message that has arrived. Does not block.
    ///
    /// When the daemon has closed the connection, this process exits.
    func receive(_ each: (UInt32, DaemonMessage) throws(FormatFault) -> Void) throws(FormatFault) {
        while true {
            let count = recv(socket, room.baseAddress, room.count, Int32(MSG_DONTWAIT))
            switch count {
            case 0:
                exit(0)
            case ..<0:
                if errno == EINTR { continue }
                guard errno == EAGAIN else { exit(0) }
                return
            default:
                defer { wipe(UnsafeMutableRawBufferPointer(rebasing: room[0..<count])) }
                try reader.take(UnsafeRawBufferPointer(rebasing: room[0..<count])) {
                    (number, message) throws(FormatFault) in
                    try each(number, try message.get())
                }
            }
        }
    }

    /// - Returns: false if the message is longer than its kind allows. It is not sent then.
    @discardableResult
    func send(_ message: HelperMessage, about transfer: UInt32) -> Bool {
        guard let frame = Frame.encode(message, of: transfer) else { return false }
        frame.withUnsafeBytes { bytes in
            var sent = 0
            while sent < bytes.count {
                let count = Glibc.send(
                    socket,
                    bytes.baseAddress?.advanced(by: sent),
                    bytes.count - sent,
                    Int32(MSG_DONTWAIT)
                )
                if count >= 0 {
                    sent += count
                } else if errno == EAGAIN {
                    waitForRoom()
                } else if errno != EINTR {
                    exit(0)
                }
            }
        }
        return true
    }

    /// Returns when some short messages can be sent without blocking. The kernel reports a socket as writable when
    /// three quarters of its buffer are empty.
    func waitForRoom() {
        var room = pollfd(fd: socket, events: Int16(POLLOUT), revents: 0)
        repeat {
            let now = clinux_boot_milliseconds()
            signs?.give(at: now)
            let pause = signs.map { Int32(clamping: max($0.next - now, 0)) } ?? -1
            poll(&room, 1, pause)
        } while room.revents == 0
    }
}
