import Glibc
import JunctionSystemd
import JunctionTesting
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

    @Test func `a reload contains the monotonic time in the same datagram`() throws {
        let manager = try FakeServiceManager(.abstract)
        let before = ServiceManagerMessage.monotonicMicroseconds()

        Notifier(socket: manager.name).tell(.reloading(atMonotonicMicroseconds: before))

        #expect(manager.receive() == "RELOADING=1\nMONOTONIC_USEC=\(before)")
        #expect(ServiceManagerMessage.monotonicMicroseconds() >= before)
    }

    @Test func `a status has one line and fits into one datagram`() throws {
        let manager = try FakeServiceManager(.abstract)
        let long = String(repeating: "🔑", count: 5_000)

        Notifier(socket: manager.name).tell(.status("Signed in\nMAINPID=1\u{1B}[2J\u{85}"))
        Notifier(socket: manager.name).tell(.ready, .status(long))

        #expect(manager.receive() == "STATUS=Signed in MAINPID=1 [2J ")
        let received = try #require(manager.receive())
        #expect(received.hasPrefix("READY=1\nSTATUS=🔑🔑"))
        #expect(received.utf8.count <= 4_096)
    }

    @Test func `a service manager that does not read blocks no thread`() throws {
        let manager = try FakeServiceManager(.abstract)
        let notifier = Notifier(socket: manager.name)

        // The system determines the length of the queue. If sending blocked, this loop would never end.
        var accepted = 0
        while notifier.tell(.alive) == .sent, accepted < 100_000 { accepted += 1 }

        #expect(accepted > 0)
        #expect(notifier.tell(.ready) == .congested)
        #expect(manager.receive() == "WATCHDOG=1")
    }

    /// Makes a service manager whose queue is full.
    private func congested() throws -> (manager: FakeServiceManager, notifier: Notifier) {
        let manager = try FakeServiceManager(.abstract)
        let notifier = Notifier(socket: manager.name)
        while notifier.tell(.alive) == .sent {}
        return (manager, notifier)
    }

    /// Returns the next messages in their order, without watchdog heartbeats.
    private func messages(to manager: FakeServiceManager, _ count: Int) -> [String] {
        var messages: [String] = []
        while messages.count < count, let text = manager.awaitDatagram() {
            if text != "WATCHDOG=1" { messages.append(text) }
        }
        return messages
    }

    @Test func `READY=1 is sent when the service manager reads again`() throws {
        let (manager, notifier) = try congested()

        #expect(notifier.tell(.ready, .status("Signed in")) == .congested)

        #expect(messages(to: manager, 1) == ["READY=1\nSTATUS=Signed in"])
        #expect(notifier.tell(.stopping) == .sent)
        #expect(messages(to: manager, 1) == ["STOPPING=1"])
    }

    @Test func `a replaced message is not sent, and a reload begins before it ends`() throws {
        let (manager, notifier) = try congested()

        for message: ServiceManagerMessage in [
            .ready, .status("old"), .reloading(atMonotonicMicroseconds: 1), .ready,
            .reloading(atMonotonicMicroseconds: 2), .status("new"), .ready,
        ] { notifier.tell(message) }

        #expect(
            messages(to: manager, 2) == ["RELOADING=1\nMONOTONIC_USEC=2", "READY=1\nSTATUS=new"]
        )
    }

    @Test func `READY=1 is not sent after STOPPING=1`() throws {
        let (manager, notifier) = try congested()

        notifier.tell(.reloading(atMonotonicMicroseconds: 1))
        notifier.tell(.ready)
        notifier.tell(.stopping)

        #expect(messages(to: manager, 1) == ["STOPPING=1"])
    }

    @Test func `no state is sent after STOPPING=1`() throws {
        let manager = try FakeServiceManager(.abstract)
        let notifier = Notifier(socket: manager.name)

        notifier.tell(.stopping, .status("Stopping"))
        notifier.tell(.reloading(atMonotonicMicroseconds: 1))
        notifier.tell(.status("Signed in"))
        notifier.tell(.ready)

        #expect(manager.receive() == "STOPPING=1\nSTATUS=Stopping")
        #expect(manager.receive() == nil)
    }

    /// Runs in a separate process, because the limit belongs to the whole process.
    @Test func `a message that failed for lack of a descriptor is sent when there is one`() async throws {
        await #expect(processExitsWith: .success) {
            let manager = try FakeServiceManager(.abstract)
            let notifier = Notifier(socket: manager.name)
            var limit = rlimit()
            getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
            let before = limit
            limit.rlim_cur = 0
            setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
            #expect(notifier.tell(.ready) == .congested)
            var restored = before
            setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &restored)
            #expect(manager.awaitDatagram() == "READY=1")
        }
    }

    @Test func `without a service manager no message is sent and nothing fails`() {
        #expect(Notifier(socket: nil).tell(.ready) == .noReceiver)
    }

    @Test(arguments: ["", "relative", "vsock:2:1234", "/" + String(repeating: "x", count: 108)])
    func `an address of another kind is reported`(name: String) {
        #expect(Notifier(socket: name).tell(.ready) == .failed(errno: EAFNOSUPPORT))
    }

    @Test func `a service manager that has gone is reported`() throws {
        let name = try FakeServiceManager(.path).name

        #expect(Notifier(socket: name).tell(.ready) == .failed(errno: ENOENT))
    }
}
