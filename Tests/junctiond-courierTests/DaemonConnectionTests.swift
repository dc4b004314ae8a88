import Foundation
import Glibc
import JunctionNetworkHelper
import JunctionSecret
import JunctionTesting
import Testing

@testable import junctiond_courier

/// The network helper's end of the connection, on a real socket.
struct DaemonConnectionTests {
    @Test(.timeLimit(.minutes(5)))
    func `while the daemon does not read, heartbeats continue, and every message arrives in the end`() async throws {
        let parts = 40
        let (helper, daemonsEnd) = try makeSocketPair()
        let daemon = TestSocket(adopting: daemonsEnd)
        // A small buffer is full sooner.
        var size: Int32 = 1 << 16
        setsockopt(helper, SOL_SOCKET, SO_SNDBUF, &size, socklen_t(MemoryLayout<Int32>.size))
        let manager = try FakeServiceManager(.abstract)
        Thread.detachNewThread {
            defer { close(helper) }
            guard let connection = DaemonConnection(helper) else { return }
            connection.signs = WatchdogHeartbeat { manager.environment(limit: 2_000)[$0] }
            // More than an unread socket can hold.
            for _ in 0..<parts {
                connection.send(.body(SharedSecret(text: String(repeating: "x", count: 32_768))), about: 1)
            }
        }
        for _ in 0..<3 { #expect(manager.awaitDatagram() == "WATCHDOG=1") }

        var reader = FrameReader<HelperMessage>()
        var heard = 0
        var fault: String?
        // Read everything in any case: if the daemon's end closes, the helper ends its process.
        while case let bytes = try daemon.lines.chunk(), !bytes.isEmpty {
            guard fault == nil else { continue }
            do {
                try bytes.withUnsafeBytes { try reader.take($0) { _, _ in heard += 1 } }
            } catch {
                fault = "\(error)"
            }
        }
        #expect(fault == nil)
        #expect(heard == parts)
    }
}
