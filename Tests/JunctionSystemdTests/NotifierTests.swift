import Glibc
import JunctionSystemd
import Testing

@Suite struct NotifierTests {
    @Test func `readiness and status arrive in one datagram`() throws {
        let manager = try FakeServiceManager(.abstract)

        let delivery = Notifier(socket: manager.name).tell(.ready, .status("Signed in"))

        #expect(delivery == .sent)
        #expect(manager.receive() == "READY=1\nSTATUS=Signed in")
        #expect(manager.receive() == nil)
    }

    @Test func `a socket with a path works like one with an abstract name`() throws {
        let manager = try FakeServiceManager(.path)

        #expect(Notifier(socket: manager.name).tell(.stopping) == .sent)
        #expect(manager.receive() == "STOPPING=1")
    }

    @Test func `a reload carries the monotonic clock in the same datagram`() throws {
        let manager = try FakeServiceManager(.abstract)
        let before = ServiceNews.monotonicMicroseconds()

        Notifier(socket: manager.name).tell(.reloading(atMonotonicMicroseconds: before), .alive)

        #expect(manager.receive() == "RELOADING=1\nMONOTONIC_USEC=\(before)\nWATCHDOG=1")
        #expect(ServiceNews.monotonicMicroseconds() >= before)
    }

    @Test func `a status stays one line and inside one datagram`() throws {
        let manager = try FakeServiceManager(.abstract)
        let long = String(repeating: "🔑", count: 5_000)

        Notifier(socket: manager.name).tell(.status("Signed in\nMAINPID=1\u{1B}[2J\u{85}"))
        Notifier(socket: manager.name).tell(.ready, .status(long))

        #expect(manager.receive() == "STATUS=Signed in MAINPID=1 [2J ")
        let received = try #require(manager.receive())
        #expect(received.hasPrefix("READY=1\nSTATUS=🔑🔑"))
        #expect(received.utf8.count <= 4_096)
    }

    @Test func `a service manager that reads nothing holds nobody up`() throws {
        let manager = try FakeServiceManager(.abstract)
        let notifier = Notifier(socket: manager.name)

        // The queue's length is the system's choice; without the flag against blocking this loop would never end.
        var accepted = 0
        while notifier.tell(.alive) == .sent, accepted < 100_000 { accepted += 1 }

        #expect(accepted > 0)
        #expect(notifier.tell(.ready) == .congested)
        #expect(manager.receive() == "WATCHDOG=1")
        #expect(notifier.tell(.ready) == .sent)
    }

    @Test func `without a service manager nothing is sent and nothing fails`() {
        #expect(Notifier(socket: nil).tell(.ready) == .nobodyListens)
    }

    @Test(arguments: ["", "relative", "vsock:2:1234", "/" + String(repeating: "x", count: 108)])
    func `an address of another kind is reported`(name: String) {
        #expect(Notifier(socket: name).tell(.ready) == .failed(errno: EAFNOSUPPORT))
    }

    @Test func `a service manager that went away is reported`() throws {
        let name = try FakeServiceManager(.path).name

        #expect(Notifier(socket: name).tell(.ready) == .failed(errno: ENOENT))
    }
}
