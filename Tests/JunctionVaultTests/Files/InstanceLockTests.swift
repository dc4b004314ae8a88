import Foundation
import JunctionTesting
import Testing

@testable import JunctionVault

@Suite struct InstanceLockTests {
    private let temporary = TemporaryFolder()

    @Test func `a second lock on one directory is refused with the process of the first`() throws {
        let first = try InstanceLock(try temporary.opened())

        let refusal = #expect(throws: InstanceLock.Refusal.self) { try InstanceLock(try temporary.opened()) }

        #expect(refusal == .held(by: getpid(), directory: temporary.path))
        #expect(refusal?.description.contains("process \(getpid())") == true)
        withExtendedLifetime(first) {}
    }

    @Test func `a released lock can be taken again, and its file stays`() throws {
        _ = try InstanceLock(try temporary.opened())

        #expect(temporary.names == ["lock"])
        #expect(throws: Never.self) { try reopened { try InstanceLock(try temporary.opened()) } }
    }

    @Test func `a lock file with invalid content can be locked`() throws {
        try temporary.write(Array("nobody knows".utf8), to: "lock")
        let first = try InstanceLock(try temporary.opened())
        try temporary.write([], to: "lock")

        let refusal = #expect(throws: InstanceLock.Refusal.self) { try InstanceLock(try temporary.opened()) }

        #expect(refusal == .held(by: nil, directory: temporary.path))
        withExtendedLifetime(first) {}
    }

    @Test func `a link in place of the lock file is refused`() throws {
        symlink("/nowhere", "\(temporary.path)/lock")

        let refusal = #expect(throws: InstanceLock.Refusal.self) { try InstanceLock(try temporary.opened()) }

        #expect(refusal == .fault(FileFault("open", "\(temporary.path)/lock", code: ELOOP)))
    }
}
