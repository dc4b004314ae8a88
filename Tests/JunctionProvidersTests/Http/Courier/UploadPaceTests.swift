import Foundation
import Glibc
import JunctionCourier
import JunctionSecret
import Testing

/// The courier sees how fast the server takes the request, and not how much the kernel takes for it.
struct UploadPaceTests {
    @Test func `what a server does not read stays with the keeper`() async throws {
        let server = try DeafServer()
        let (socket, _) = try CourierPlace.built.connect()
        defer { close(socket) }
        let count = 8 << 20
        let limits = TransferLimits(resolve: 60_000, connect: 60_000, silence: 1_000, whole: 0, longestAnswer: 1)
        let request = TransferRequest(
            method: "PUT",
            url: "http://127.0.0.1:\(server.port)/",
            body: .bytes(UInt64(count)),
            limits: limits
        )
        say(.hello(version: KeeperMessage.version), to: socket)
        say(.open(request), to: socket)

        // As much as the courier takes, until it sees that nothing moves any more.
        let taken = try await onThread {
            var reader = FrameReader<CourierMessage>()
            var room = [UInt8](repeating: 0, count: 1 << 16)
            var (sent, taken, isOver) = (0, 0, false)
            while !isOver {
                while sent < min(count, taken + Flow.window) {
                    say(.body(.ofZeros(Flow.longestPart)), to: socket)
                    sent += Flow.longestPart
                }
                let got = recv(socket, &room, room.count, 0)
                guard got > 0 else { break }
                let bytes = room.withUnsafeBytes {
                    SharedSecret(copying: UnsafeRawBufferPointer(rebasing: $0[0..<got]))
                }
                try bytes.withUnsafeBytes { (bytes) throws(FormatFault) in
                    try reader.take(bytes) { _, message in
                        if case .success(.credit(let count)) = message { taken += Int(count) }
                        if case .success(.failed(let failure)) = message { isOver = failure.cause == .answeredTooLate }
                    }
                }
            }
            return taken
        }

        #expect(taken > 0)
        #expect(taken < 1 << 20)
        withExtendedLifetime(server) {}
    }
}

private func say(_ message: KeeperMessage, to socket: Int32) {
    Frame.encode(message, of: message.kind == .hello ? 0 : 1)?.withUnsafeBytes { bytes in
        var sent = 0
        while sent < bytes.count {
            let count = send(socket, bytes.baseAddress?.advanced(by: sent), bytes.count - sent, Int32(MSG_NOSIGNAL))
            guard count > 0 else { return }
            sent += count
        }
    }
}

/// Takes connections, with as little room as there can be, and never reads.
private final class DeafServer: Sendable {
    let port: UInt16
    private let listener: Int32

    init() throws {
        let listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        self.listener = listener
        var room: Int32 = 4_096
        setsockopt(listener, SOL_SOCKET, SO_RCVBUF, &room, socklen_t(MemoryLayout.size(ofValue: room)))
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = in_addr_t(0x7F00_0001).bigEndian
        var size = socklen_t(MemoryLayout<sockaddr_in>.size)
        let isListening = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(listener, $0, size) == 0 && listen(listener, 1) == 0 && getsockname(listener, $0, &size) == 0
            }
        }
        guard isListening else { throw NotListening() }
        port = UInt16(bigEndian: address.sin_port)
    }

    deinit { close(listener) }
}

private struct NotListening: Error {}
