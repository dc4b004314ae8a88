import Foundation
import JunctionTesting

/// The daemon's disk, which a test lets take its time; see `Shims/disk.c`. A write is held at its first sync: all of it
/// is in the temporary file, which has not replaced the record yet.
final class HeldDisk {
    private let folder: String
    private let held: Fifo
    private let go: Fifo
    private let reports: LineReader

    /// To be made before the daemon starts.
    init(_ installation: Installation) throws {
        folder = try installation.folder.makeFolder("disk")
        held = try Fifo(folder + "/held")
        go = try Fifo(folder + "/go")
        reports = LineReader(held.descriptor)
        try Preloading.prepare(installation, "JUNCTION_TEST_DISK", folder: folder)
    }

    /// The next write waits in the middle.
    func hold() throws {
        try Data().write(to: URL(fileURLWithPath: folder + "/hold"))
    }

    /// Returns when a write waits.
    func awaitWrite() throws {
        guard try reports.next() != nil else { throw Program.Failure(description: "No write came") }
    }

    /// The write that waits goes on, and no other is held.
    func release() throws {
        try FileManager.default.removeItem(atPath: folder + "/hold")
        go.poke()
    }
}
