import JunctionSession
import Testing

@testable import JunctionVault

/// Stops the vault after each of its operations and checks every disk that may result.
@Suite struct SimulatedPowerCutTests {
    /// The content of the disk before a write.
    enum Before: String, CaseIterable, CustomTestStringConvertible {
        case nothing
        case session
        case sessionWithNewerTemporary
        case alteredWithOlderTemporary
        case lockedByOtherKey
        case fullQuarantine

        var testDescription: String { rawValue }

        var disk: SimulatedDisk {
            switch self {
            case .nothing:
                SimulatedDisk()
            case .session:
                SimulatedDisk(live: sealed(.test(7)))
            case .sessionWithNewerTemporary:
                SimulatedDisk(live: sealed(.test(6)), [.temporary: sealed(.test(7))])
            case .alteredWithOlderTemporary:
                SimulatedDisk(live: sealed(.test(8)).altered(), [.temporary: sealed(.test(7))])
            case .lockedByOtherKey:
                SimulatedDisk(live: sealed(.test(7), key: .test(2)))
            case .fullQuarantine:
                SimulatedDisk(
                    live: sealed(.test(7), key: .test(2)),
                    [
                        StateFile("generation-1.0-0", in: .quarantine): sealed(.test(1)).altered(),
                        StateFile("generation-2.0-0", in: .quarantine): sealed(.test(2)).altered(),
                    ]
                )
            }
        }

        /// Whether `found` is the content before the write.
        func isOld(_ found: Restoration) -> Bool {
            switch self {
            case .nothing: found.isAbsent
            case .session, .sessionWithNewerTemporary, .alteredWithOlderTemporary: found.record == .test(7)
            case .lockedByOtherKey, .fullQuarantine: found.unreadable?.status == .locked
            }
        }
    }

    static let new = SessionRecord.test(9)
    static let tombstone = SessionRecord.test(9, .signedOut)

    @Test(arguments: Before.allCases, [new, tombstone])
    func `a power cut at any moment leaves the old record or the new one`(before: Before, next: SessionRecord) throws {
        var disks = 0
        for stop in 0... {
            let disk = before.disk
            disk.stop(after: stop)
            let written = attempt(next, on: disk)

            for survivor in disk.afterPowerCut() + [disk.afterKill()] {
                disks += 1
                let found = survivor.store().found
                let isNew = found.record == next && found.secrets?.texts == next.expectedSecrets
                #expect(isNew || !written && isOldOrUnfinished(found, before), "after \(stop): \(disk.operations)")
            }
            if written { break }
        }
        #expect(disks > 20)
    }

    @Test(arguments: Before.allCases)
    func `a second stop during the recovery from the first loses nothing`(before: Before) {
        for first in 0... {
            let disk = before.disk
            disk.stop(after: first)
            let written = attempt(Self.new, on: disk)
            let killed = disk.afterKill()

            for second in 0... {
                let restarted = killed.afterKill()
                restarted.stop(after: second)
                _ = restarted.store()

                for survivor in restarted.afterPowerCut() {
                    let found = survivor.store().found
                    #expect(
                        found.record == Self.new || !written && isOldOrUnfinished(found, before),
                        "after \(first) and \(second): \(disk.operations) \(restarted.operations)"
                    )
                }
                if restarted.operations.count <= second { break }
            }
            if disk.operations.count <= first { break }
        }
    }

    @Test func `a record of another key survives a stop at every step`() {
        let locked = sealed(.test(7), key: .test(2))
        for stop in 0... {
            let disk = SimulatedDisk(live: locked)
            disk.stop(after: stop)
            _ = attempt(Self.new, on: disk)

            for survivor in disk.afterPowerCut() {
                _ = survivor.store()
                #expect(survivor.content.values.contains(locked), "after \(stop): \(disk.operations)")
            }
            if disk.operations.count <= stop { break }
        }
    }

    /// Starts and writes as a daemon does. Returns whether the write was reported as durable.
    private func attempt(_ record: SessionRecord, on disk: SimulatedDisk) -> Bool {
        var store = RecordStore(disk, .key(.test()))
        if case .unreadable(let unreadable) = store.restore(), unreadable.status == .unavailable { return false }
        return (try? store.write(record, .test(record.generation))) != nil
    }

    /// Whether `found` is the old content, or a torn first sign-in, which is reported as damaged.
    private func isOldOrUnfinished(_ found: Restoration, _ before: Before) -> Bool {
        before.isOld(found) || before == .nothing && found.unreadable?.status == .damaged
    }
}

extension SessionRecord {
    /// The fixtures give every record its secrets, including tombstones.
    fileprivate var expectedSecrets: [String?] { SessionSecrets.test(generation).texts }
}
