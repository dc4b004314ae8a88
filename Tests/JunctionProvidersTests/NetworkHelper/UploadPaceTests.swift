import Foundation
import Glibc
import JunctionNetworkHelper
import JunctionSecret
import JunctionTesting
import Testing

/// The network helper measures the progress of the server and not that of the kernel's buffer.
struct UploadPaceTests {
    @Test func `bytes that a server does not read stay with the daemon`() async throws {
        // The smallest possible receive buffer, and a server that never reads.
        let server = try TestListener(backlog: 1, receiveBuffer: 4_096)
        let socket = TestSocket(adopting: try HelperEndpoint.built.connect().0)
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

        // As much as the helper takes before it stops granting.
        let taken = try await onThread {
            var reader = FrameReader<HelperMessage>()
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
