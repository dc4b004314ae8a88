import Foundation
import JunctionTesting

/// Shifts the clocks of the daemon only. See `Shims/time.c`.
///
/// A change takes effect at once and survives restarts of the daemon. The daemon detects a change as it detects a set
/// clock or a resume: its alarm is cancelled, and fires if its time has passed.
final class ShiftedTime {
    private let offsets: UnsafeMutablePointer<Int64>
    private let changes: Fifo
    private static let size = 2 * MemoryLayout<Int64>.size

    /// Must be called before the daemon starts.
    init(_ installation: Installation) throws {
        let folder = try installation.folder.makeFolder("time")
        let file = open(folder + "/offsets", O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
        defer { close(file) }
        guard file >= 0, ftruncate(file, Self.size) == 0,
            let memory = mmap(nil, Self.size, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0), memory != MAP_FAILED
        else { throw TestFailure(description: "The time cannot be shared: \(errno)") }
        offsets = memory.bindMemory(to: Int64.self, capacity: 2)
        changes = try Fifo(folder + "/set")
        try Preloading.prepare(installation, "JUNCTION_TEST_TIME", folder: folder)
    }

    /// The daemon's wall clock.
    var now: Date {
        Date().addingTimeInterval(TimeInterval(offsets[0] / 1_000_000) / 1_000)
    }

    /// Moves the wall clock and the boot-time clock forward, as a suspend does.
    func advance(by duration: Duration) {
        offsets[1] += duration.nanoseconds
        offsets[0] += duration.nanoseconds
        changes.poke()
    }

    /// Changes the wall clock only.
    func setWall(by duration: Duration) {
        offsets[0] += duration.nanoseconds
        changes.poke()
    }

    deinit { munmap(offsets, Self.size) }
}

extension Duration {
    static func minutes(_ count: Int) -> Duration { .seconds(60 * count) }
    static func hours(_ count: Int) -> Duration { .minutes(60 * count) }

    fileprivate var nanoseconds: Int64 {
        components.seconds * 1_000_000_000 + components.attoseconds / 1_000_000_000
    }
}
