import Glibc
import JunctionTesting
import Testing

@testable import junctiond_courier

/// What the service manager hears, on a real socket.
struct WatchdogHeartbeatTests {
    @Test func `a sign is given at once, and again after half of the time`() throws {
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

    @Test func `a manager that does not read is not waited for`() throws {
        let manager = try FakeServiceManager(.abstract)
        var signs = try #require(WatchdogHeartbeat { manager.environment()[$0] })
        let begin = signs.next
        // More than any queue of datagrams holds.
        for _ in 0..<5_000 { signs.give(at: signs.next) }
        // One that was not taken is repeated soon.
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
    func `nobody is told where nobody asked`(change: [String: String?]) throws {
        let manager = try FakeServiceManager(.abstract)
        let signs = WatchdogHeartbeat { change.keys.contains($0) ? change[$0] ?? nil : manager.environment()[$0] }
        #expect(signs.map { $0.next } == nil)
    }
}

extension FakeServiceManager {
    /// What a process finds that the manager watches.
    ///
    /// - Parameter limit: how long it may be silent, in microseconds.
    func environment(limit: Int = 60_000_000) -> [String: String] {
        ["NOTIFY_SOCKET": name, "WATCHDOG_USEC": String(limit), "WATCHDOG_PID": String(getpid())]
    }
}
