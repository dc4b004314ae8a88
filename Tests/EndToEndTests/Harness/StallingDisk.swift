import Foundation
import JunctionTesting

/// Holds writes of the daemon at their first sync. See `Shims/disk.c`. At that point the temporary file is complete but
/// has not replaced the record.
final class StallingDisk {
    private let folder: String
    private let held: Fifo
    private let go: Fifo
    private let reports: LineReader

    /// Must be called before the daemon starts.
    init(_ installation: Installation) throws {
        folder = try installation.folder.makeFolder("disk")
        held = try Fifo(folder + "/held")
        go = try Fifo(folder + "/go")
        reports = LineReader(held.descriptor)
        try Preloading.prepare(installation, "JUNCTION_TEST_DISK", folder: folder)
    }

    /// Makes the next write wait at its first sync.
    func hold() throws {
        try Data().write(to: URL(fileURLWithPath: folder + "/hold"))
    }

    func awaitWrite() throws {
        guard try reports.next() != nil else { throw TestFailure(description: "No write came") }
    }

    /// Continues the held write and holds no other.
    func release() throws {
        try FileManager.default.removeItem(atPath: folder + "/hold")
        go.poke()
    }
}
