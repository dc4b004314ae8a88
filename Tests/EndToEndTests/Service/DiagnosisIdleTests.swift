import Foundation
import JunctionTesting
import Testing

/// Tests that a diagnosis leaves no timer or event loop that wakes an idle daemon.
struct DiagnosisIdleTests {
    /// libdispatch's global queues would start a monitor that wakes the process once a second forever. The monitor has
    /// its own timer and event loop, which are visible as descriptors.
    @Test func `a diagnosis leaves the daemon's timers and event loops as they were`() throws {
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

    /// Returns the timers and event loops of a process.
    private static func wakers(of process: Int32) throws -> [String] {
        let folder = "/proc/\(process)/fd"
        return try FileManager.default.contentsOfDirectory(atPath: folder)
            // A descriptor may be closed in the meantime.
            .compactMap { try? FileManager.default.destinationOfSymbolicLink(atPath: folder + "/" + $0) }
            .filter { ["anon_inode:[timerfd]", "anon_inode:[eventpoll]"].contains($0) }
            .sorted()
    }
}
