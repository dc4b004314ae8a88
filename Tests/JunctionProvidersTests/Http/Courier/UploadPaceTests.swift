import Foundation
import Glibc
import JunctionCourier
import JunctionSecret
import JunctionTesting
import Testing

/// The courier sees how fast the server takes the request, and not how much the kernel takes for it.
struct UploadPaceTests {
    @Test func `what a server does not read stays with the daemon`() async throws {
        // It has as little space as there can be, and never reads.
        let server = try TestListener(backlog: 1, receiveBuffer: 4_096)
        let socket = TestSocket(adopting: try CourierPlace.built.connect().0)
        let count = 8 << 20
        let limits = TransferLimits(resolve: 60_000, connect: 60_000, silence: 1_000, whole: 0, longestAnswer: 1)
        let request = TransferRequest(
            method: "PUT",
            url: "http://127.0.0.1:\(server.port)/",
            body: .bytes(UInt64(count)),
            limits: limits
        )
        try socket.say(.hello(version: DaemonMessage.version))
        try socket.say(.open(request))

        // As much as the courier takes, until it sees that nothing moves any more.
        let taken = try await onThread {
            var reader = FrameReader<CourierMessage>()
            var (sent, taken, isOver) = (0, 0, false)
            while !isOver {
                while sent < min(count, taken + Flow.window) {
                    try socket.say(.body(.ofZeros(Flow.longestPart)))
                    sent += Flow.longestPart
                }
                let bytes = try socket.lines.chunk()
                guard !bytes.isEmpty else { break }
                try bytes.withUnsafeBytes { bytes in
                    try reader.take(bytes) { (_, message) throws(FormatFault) in
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

extension TestSocket {
    fileprivate func say(_ message: DaemonMessage) throws {
        let frame = Frame.encode(message, of: message.kind == .hello ? 0 : 1)?.withUnsafeBytes { [UInt8]($0) }
        try send(frame ?? [])
    }
}
