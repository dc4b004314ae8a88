import Glibc
import JunctionTesting
import Testing

@testable import JunctionSystemd

/// Files in memory that the service manager keeps over a restart.
@Suite struct StoredDescriptorFileTests {
    private let bytes = (0..<5_000).map { UInt8(truncatingIfNeeded: $0) }

    @Test func `a kept file is returned under its name and cannot be changed`() throws {
        let manager = try FakeServiceManager(.abstract)

        #expect(StoredDescriptorFile.keep(bytes, as: "session-a", by: Notifier(socket: manager.name)) == .sent)
        let message = try #require(manager.receiveWithDescriptor())
        let descriptor = try #require(message.descriptor)

        #expect(message.text == "FDSTORE=1\nFDPOLL=0\nFDNAME=session-a")
        #expect(write(descriptor, bytes, 1) == -1)
        #expect(ftruncate(descriptor, 0) == -1)
        let file = try #require(identity(of: descriptor))
        var passed = PassedSockets([
            .init(descriptor: 1_000, name: "rpc"),
            .init(descriptor: descriptor, name: "session-a"),
        ])
        #expect(passed.takeKeptFiles(named: ["session-a", "session-b"], atMost: 5_000) == [bytes])
        #expect(passed.sockets == [.init(descriptor: 1_000, name: "rpc")])
        // The descriptor is closed. Another test may have its number by now.
        #expect(identity(of: descriptor) != file)
    }

    @Test func `a file that is too long and one that can be changed are refused`() throws {
        let manager = try FakeServiceManager(.abstract)
        _ = StoredDescriptorFile.keep(bytes, as: "session-a", by: Notifier(socket: manager.name))
        let long = try #require(manager.receiveWithDescriptor()?.descriptor)
        let open = try #require(openPlainFile())

        var passed = PassedSockets([
            .init(descriptor: long, name: "session-a"), .init(descriptor: open, name: "session-a"),
        ])

        #expect(passed.takeKeptFiles(named: ["session-a"], atMost: 4_999).isEmpty)
        #expect(passed.sockets.isEmpty)
    }

    @Test func `without a service manager no file is kept, and the result says that`() {
        #expect(StoredDescriptorFile.keep(bytes, as: "session-a", by: Notifier(socket: nil)) == .noReceiver)
    }

    @Test func `a forgotten file is named in the message`() throws {
        let manager = try FakeServiceManager(.abstract)

        #expect(Notifier(socket: manager.name).tell(.forget(name: "session-b")) == .sent)

        #expect(manager.receive() == "FDSTOREREMOVE=1\nFDNAME=session-b")
    }

    /// Returns the identity of the file behind a descriptor; `nil` if it is closed.
    private func identity(of descriptor: Int32) -> [UInt64]? {
        var status = stat()
        return fstat(descriptor, &status) == 0 ? [UInt64(status.st_dev), UInt64(status.st_ino)] : nil
    }

    private func openPlainFile() -> Int32? {
        let descriptor = open("/proc/self/exe", O_RDONLY)
        return descriptor < 0 ? nil : descriptor
    }
}
