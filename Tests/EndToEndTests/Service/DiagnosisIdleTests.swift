import Foundation
import JunctionTesting
import Testing

/// A diagnosis leaves nothing behind that wakes an idle daemon.
struct DiagnosisIdleTests {
    /// libdispatch's global queues start a monitor that wakes the process once a second for ever: it has a timer and an event
    /// loop of its own, which are descriptors that stay.
    @Test func `after a diagnosis the daemon has the timers and event loops that it had before`() throws {
        let installation = try Installation.started()
        try installation.signInNewUser()
        let client = try installation.connect()
        let daemon = try #require(installation.daemon?.identifier)
        try client.call("session.status")
        let before = try Self.wakers(of: daemon)

        for _ in 0..<3 { try client.call("daemon.diagnose") }

        #expect(before.contains("anon_inode:[timerfd]"))
        #expect(try Self.wakers(of: daemon) == before)
    }

    /// What a process waits on in the kernel for a time or an event, without its connections.
    private static func wakers(of process: Int32) throws -> [String] {
        let folder = "/proc/\(process)/fd"
        return try FileManager.default.contentsOfDirectory(atPath: folder)
            // A descriptor may be closed by the time it is looked at.
            .compactMap { try? FileManager.default.destinationOfSymbolicLink(atPath: folder + "/" + $0) }
            .filter { ["anon_inode:[timerfd]", "anon_inode:[eventpoll]"].contains($0) }
            .sorted()
    }
}
