import Foundation
import JunctionTesting

/// The daemon's own time, which a test moves; see `Shims/time.c`. Every other program has the true one.
///
/// A change is in force at once, and stays over restarts of the daemon. The daemon hears of it as it hears of a clock
/// that was set or a machine that resumed: its alarm is cancelled, and rings if its time has passed.
final class ShiftedTime {
    private let offsets: UnsafeMutablePointer<Int64>
    private let changes: Fifo
    private static let size = 2 * MemoryLayout<Int64>.size

    /// To be made before the daemon starts.
    init(_ installation: Installation) throws {
        let folder = try installation.folder.makeFolder("time")
        let file = open(folder + "/offsets", O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
        defer { close(file) }
        guard file >= 0, ftruncate(file, Self.size) == 0,
            let memory = mmap(nil, Self.size, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0), memory != MAP_FAILED
        else { throw Program.Failure(description: "The time cannot be shared: \(errno)") }
        offsets = memory.bindMemory(to: Int64.self, capacity: 2)
        changes = try Fifo(folder + "/set")
        try Preloading.prepare(installation, "JUNCTION_TEST_TIME", folder: folder)
    }

    /// The daemon's wall clock.
    var now: Date {
        Date().addingTimeInterval(TimeInterval(offsets[0] / 1_000_000) / 1_000)
    }

    /// Time passes, as in a suspend: on the wall clock, and on the one that counts since boot.
    func advance(by duration: Duration) {
        offsets[1] += duration.nanoseconds
        offsets[0] += duration.nanoseconds
        changes.poke()
    }

    /// Somebody sets the wall clock. No time passes.
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
