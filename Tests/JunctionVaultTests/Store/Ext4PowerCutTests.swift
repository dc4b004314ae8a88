import Foundation
import JunctionSession
import Synchronization
import Testing

@testable import JunctionVault

/// Power cuts on a real file system. `SimulatedPowerCutTests` covers every step on a simulated disk. These tests show that the
/// system calls of the vault have the effect that the simulation assumes.
@Suite(
    .enabled("only root can mount a file system (ext4, on a loop device) here") { Ext4Disk.canBeMounted },
    // A machine may have few loop devices.
    .serialized
)
struct Ext4PowerCutTests {
    private let disk: Ext4Disk

    init() throws { disk = try Ext4Disk(Ext4Image()) }

    private func opened(
        _ disk: Ext4Disk,
        probe: @escaping @Sendable (VaultStep) -> Void = { _ in }
    ) throws -> Vault {
        let directory = try StateDirectory(path: disk.path + "/state")
        return Vault(directory, try InstanceLock(directory), .key(.test()), probe: probe)
    }

    /// Returns the vault after it has written a session to the disk.
    private func prepared() async throws -> Vault {
        let vault = try opened(disk)
        #expect(vault.restore().isAbsent)
        try await vault.write(.test(7), .test(7))
        return vault
    }

    /// Expects the new content of each file under the file's own name. A record in a temporary file, which a start
    /// would find as well, does not count.
    private func expectInPlace(_ names: String..., on survivor: Ext4Disk) throws {
        for name in names {
            let written = try #require(FileManager.default.contents(atPath: "\(disk.path)/state/\(name)"))
            #expect(FileManager.default.contents(atPath: "\(survivor.path)/state/\(name)") == written, "\(name)")
        }
    }

    private func afterPowerCut() throws -> Ext4Disk { try Ext4Disk(disk.image.copy()) }

    @Test func `the first record and its installation id survive a power cut`() async throws {
        let vault = try await prepared()

        let survivor = try afterPowerCut()
        try expectInPlace("installation-id", "session.sealed", on: survivor)
        let next = try opened(survivor)

        #expect(next.restore().record == .test(7))
        #expect(next.installationId == vault.installationId)
    }

    @Test(arguments: [SessionRecord.test(8), .test(8, .signedOut)])
    func `a record that was reported as durable survives a power cut`(record: SessionRecord) async throws {
        let vault = try await prepared()
        try await vault.write(record, .test(8))

        let survivor = try afterPowerCut()

        try expectInPlace("session.sealed", on: survivor)
        #expect(try opened(survivor).restore().record == record)
    }

    @Test func `a power cut at any step leaves the old record or the new one`() async throws {
        let cuts = Mutex<[(step: VaultStep, image: Result<Ext4Image, any Error>)]>([])
        let image = disk.image
        let vault = try opened(disk) { step in
            let cut = Result { try image.copy() }
            cuts.withLock { $0.append((step, cut)) }
        }
        _ = vault.restore()
        try await vault.write(.test(7), .test(7))
        cuts.withLock { $0 = [] }
        try await vault.write(.test(8), .test(8))

        let taken = cuts.withLock(\.self)
        #expect(taken.map(\.step) == [.temporaryWritten, .temporarySynced, .renamed, .directorySynced])
        for (step, image) in taken {
            let survivor = try Ext4Disk(image.get())
            if step == .directorySynced { try expectInPlace("session.sealed", on: survivor) }
            let record = try opened(survivor).restore().record
            switch step {
            // Content that is not synced must not be on the disk. Otherwise these tests would prove nothing.
            case .temporaryWritten: #expect(record == .test(7))
            case .temporarySynced, .predecessorPutAside, .renamed: #expect(record == .test(7) || record == .test(8))
            case .directorySynced: #expect(record == .test(8))
            }
        }
    }

    @Test func `a used sequence survives a power cut`() async throws {
        let vault = try await prepared()
        try await vault.sequences.claim(5, of: "app/anna")

        let survivor = try afterPowerCut()
        let next = try opened(survivor)

        _ = next.restore()
        await #expect(throws: SequenceSpent.self) { try await next.sequences.claim(5, of: "app/anna") }
    }

    @Test func `a used credential survives a power cut`() async throws {
        let vault = try await prepared()
        let digest = String(repeating: "0", count: 64)
        let isStored = await withCheckedContinuation { done in
            vault.note(.done, of: digest) { done.resume(returning: $0) }
        }
        #expect(isStored)

        let survivor = try afterPowerCut()
        let next = try opened(survivor)

        _ = next.restore()
        let stage = await withCheckedContinuation { done in next.stage(of: digest) { done.resume(returning: $0) } }
        #expect(try stage.get() == .done)
    }
}
