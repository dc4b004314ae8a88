import Foundation
import JunctionTesting

/// Makes every sync of the daemon fail with EIO. See `Shims/disk.c`. Written data can be read until a power failure, as
/// on a real failed disk.
final class BrokenDisk {
    private let installation: Installation
    private let mark: String

    /// Must be called before the daemon starts.
    init(_ installation: Installation) throws {
        self.installation = installation
        let folder = try installation.folder.makeFolder("disk")
        mark = folder + "/broken"
        try Preloading.prepare(installation, "JUNCTION_TEST_DISK", folder: folder)
    }

    func breakDown() throws { try Data().write(to: URL(fileURLWithPath: mark)) }

    func mend() throws { try FileManager.default.removeItem(atPath: mark) }

    /// The temporary files in the state directory that were never renamed.
    var leftovers: [String] {
        get throws {
            try FileManager.default.contentsOfDirectory(atPath: installation.stateDirectory)
                .filter { $0.contains(".tmp-") }.sorted()
        }
    }

    /// Deletes the temporary files, as a power failure may.
    func removeLeftovers() throws {
        for name in try leftovers {
            try FileManager.default.removeItem(atPath: installation.stateDirectory + "/" + name)
        }
    }
}
