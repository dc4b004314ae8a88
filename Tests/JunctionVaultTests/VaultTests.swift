import Foundation
import JunctionSession
import JunctionTesting
import Synchronization
import Testing

@testable import JunctionVault

/// The vault on a real disk.
@Suite struct VaultTests {
    private let temporary = TemporaryFolder()

    private func open(
        _ sealing: Sealing = .key(.test()),
        disk: DiskQueue = DiskQueue(patience: RenewalPolicy.longestWrite),
        probe: @escaping @Sendable (VaultStep) -> Void = { _ in }
    ) throws -> Vault {
        let directory = try temporary.opened()
        return Vault(directory, try InstanceLock(directory), sealing, disk: disk, probe: probe)
    }

    @Test func `while the disk stalls, doctor says so, and a used sequence and a used credential do not wait for it`()
        async throws
    {
        let (disk, stall) = (DiskQueue(patience: .zero), DispatchSemaphore(value: 0))
        let vault = try open(disk: disk)
        _ = vault.restore()
        disk.run { stall.wait() }

        let findings = await vault.inspect()
        try await vault.sequences.claim(7, of: "app/anna")
        let isStored = await withCheckedContinuation { continuation in
            vault.note(.begun, of: String(repeating: "0", count: 64)) { continuation.resume(returning: $0) }
        }

        #expect(findings.map(\.name) == ["state directory"])
        #expect(findings.first?.detail.contains("has not answered") == true)
        #expect(!isStored)
        // The work is done when the disk answers.
        stall.signal()
        await withCheckedContinuation { done in disk.run { done.resume() } }
        #expect(temporary.names.contains("sequences") && temporary.names.contains("used-credentials"))
    }

    @Test func `a session survives the process, and only the vault's files exist`() async throws {
        try await {
            let vault = try open()
            #expect(vault.restore().isAbsent)
            try await vault.write(.test(1), .test(1))
            try await vault.write(.test(2), .test(2))
            // The reserve is created after the answer. This waits for it.
            _ = await vault.inspect()
        }()

        let found = try reopened { try open() }.restore()

        #expect(found.record == .test(2))
        #expect(found.secrets?.texts == ["access-2", "refresh-2", "key-2"])
        #expect(temporary.names == ["installation-id", "lock", "reserve", "session.sealed"])
        for name in temporary.names { #expect(try temporary.mode(name) == 0o600, "\(name)") }
    }

    @Test func `doctor names the installation id that the process uses, after the file of the id was lost`()
        async throws
    {
        try await {
            let vault = try open()
            _ = vault.restore()
            try await vault.write(.test(1), .test(1))
            // The reserve is created after the answer. This waits for it.
            _ = await vault.inspect()
        }()
        try FileManager.default.removeItem(atPath: "\(temporary.path)/installation-id")
        let vault = try reopened { try open() }

        let found = vault.restore()

        let finding = await vault.inspect().first { $0.name == "stored session" }
        #expect(found.unreadable?.remedy.contains(try #require(vault.installationId)) == true)
        #expect(finding?.detail == found.unreadable?.remedy)
    }

    @Test func `a second vault on one directory cannot be opened`() throws {
        let vault = try open()

        #expect(throws: InstanceLock.Refusal.self) { try open() }
        withExtendedLifetime(vault) {}
    }

    @Test func `all writes happen in the order of their calls`() async throws {
        let vault = try open()
        _ = vault.restore()

        for generation in 1...50 as ClosedRange<UInt64> { try await vault.write(.test(generation), .test(generation)) }

        #expect(vault.restore().record?.generation == 50)
    }

    @Test(arguments: [VaultStep.temporaryWritten, .temporarySynced, .renamed, .directorySynced])
    func `a process that ends at any step of a write leaves the new session`(step: VaultStep) async throws {
        try await {
            let vault = try open()
            _ = vault.restore()
            try await vault.write(.test(1), .test(1))
            // The reserve is created after the answer. This waits for it, and then for the release of the lock.
            _ = await vault.inspect()
        }()
        _ = try reopened { try open() }

        await #expect(processExitsWith: .exitCode(9)) {
            [path = temporary.path as String, name = step.rawValue as String] in
            let directory = try StateDirectory(path: path)
            let vault = Vault(directory, try InstanceLock(directory), .key(.test())) { step in
                if step.rawValue == name { _exit(9) }
            }
            _ = vault.restore()
            try await vault.write(.test(2), .test(2))
        }

        let found = try open().restore()
        // The new record was complete, so it wins even if it did not have its name yet.
        #expect(found.record == .test(2))
        #expect(found.damaged == nil)
        #expect(!temporary.names.contains { $0.contains(".tmp-") })
    }

    @Test func `a failure to write reaches the caller, and the old session stays`() async throws {
        let vault = try open()
        _ = vault.restore()
        try await vault.write(.test(1), .test(1))
        // A file cannot replace a directory.
        try FileManager.default.removeItem(atPath: "\(temporary.path)/session.sealed")
        mkdir("\(temporary.path)/session.sealed", 0o700)

        let failure = await #expect(throws: StoreFailure.self) { try await vault.write(.test(2), .test(2)) }

        #expect(try #require(failure).message.contains("Is a directory"))
    }

    @Test func `a directory in place of the record is unavailable`() throws {
        mkdir("\(temporary.path)/session.sealed", 0o700)

        let found = try #require(try open().restore().unreadable)

        #expect(found.status == .unavailable)
        #expect(found.remedy.contains("not a plain file"))
    }
}
