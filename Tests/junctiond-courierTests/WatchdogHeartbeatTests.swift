import Glibc
import JunctionTesting
import Testing

@testable import junctiond_courier

/// The heartbeats that the service manager receives, on a real socket.
struct WatchdogHeartbeatTests {
    @Test func `a heartbeat is sent at once, and again after half of the limit`() throws {
        let manager = try FakeServiceManager(.abstract)
        var signs = try #require(WatchdogHeartbeat { manager.environment()[$0] })
        let begin = signs.next
        signs.give(at: begin)
        #expect(manager.receive() == "WATCHDOG=1")
        #expect(signs.next == begin + 30_000)
        signs.give(at: begin + 29_999)
        #expect(manager.receive() == nil)
        signs.give(at: begin + 30_000)
        #expect(manager.receive() == "WATCHDOG=1")
    }

    @Test func `sending does not wait for a service manager that does not read`() throws {
        let manager = try FakeServiceManager(.abstract)
        var signs = try #require(WatchdogHeartbeat { manager.environment()[$0] })
        let begin = signs.next
        // More than any datagram queue holds.
        for _ in 0..<5_000 { signs.give(at: signs.next) }
        // A heartbeat that could not be sent is retried soon.
        let now = signs.next
        signs.give(at: now)
        #expect(signs.next == now + 1_000)
        #expect(now - begin < 5_000 * 30_000)
        while manager.receive() != nil {}
        signs.give(at: signs.next)
        #expect(manager.receive() == "WATCHDOG=1")
        #expect(signs.next == now + 1_000 + 30_000)
    }

    @Test(arguments: [
        ["NOTIFY_SOCKET": nil], ["WATCHDOG_USEC": nil], ["WATCHDOG_USEC": "0"], ["WATCHDOG_USEC": "soon"],
        ["WATCHDOG_USEC": "-1"], ["WATCHDOG_PID": "1"], ["NOTIFY_SOCKET": ""], ["NOTIFY_SOCKET": "vsock:2:1"],
        ["NOTIFY_SOCKET": "/"], ["NOTIFY_SOCKET": "/" + String(repeating: "n", count: 107)],
    ])
    func `no heartbeat is made if the service manager has not requested it`(change: [String: String?]) throws {
        let manager = try FakeServiceManager(.abstract)
        let signs = WatchdogHeartbeat { change.keys.contains($0) ? change[$0] ?? nil : manager.environment()[$0] }
        #expect(signs.map { $0.next } == nil)
    }
}

extension FakeServiceManager {
    /// Returns the environment of a process that the service manager watches.
    ///
    /// - Parameter limit: the watchdog timeout in microseconds.
    func environment(limit: Int = 60_000_000) -> [String: String] {
        ["NOTIFY_SOCKET": name, "WATCHDOG_USEC": String(limit), "WATCHDOG_PID": String(getpid())]
    }
}
