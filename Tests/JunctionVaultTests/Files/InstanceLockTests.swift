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

    @Test(arguments: [true, false])
    func `the lock of a process that has ended is waited for, but not for ever`(isReleased: Bool) throws {
        let file = open("\(temporary.path)/lock", O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
        defer { if !isReleased { close(file) } }
        #expect(flock(file, LOCK_EX) == 0)
        // No process has this number (proc(5), pid_max).
        try temporary.write(Array("\(Int32.max)\n".utf8), to: "lock")
        let directory = try temporary.opened()

        var pauses = 0
        let open = {
            try InstanceLock(directory) {
                pauses += 1
                if isReleased, pauses == 3 { close(file) }
            }
        }
        if isReleased {
            #expect(throws: Never.self) { try open() }
            #expect(pauses >= 3)
        } else {
            #expect(throws: InstanceLock.Refusal.held(by: .max, directory: temporary.path)) { try open() }
            #expect(pauses == 199)
        }
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
