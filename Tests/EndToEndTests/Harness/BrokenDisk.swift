import Foundation
import JunctionTesting

/// The daemon's disk, which a test makes refuse every sync (EIO); see `Shims/disk.c`. What is written can be read all the same, as
/// from any file system whose disk has failed, until a power cut.
final class BrokenDisk {
    private let installation: Installation
    private let mark: String

    /// To be made before the daemon starts.
    init(_ installation: Installation) throws {
        self.installation = installation
        let folder = try installation.folder.makeFolder("disk")
        mark = folder + "/broken"
        try Preloading.prepare(installation, "JUNCTION_TEST_DISK", folder: folder)
    }

    func breakDown() throws { try Data().write(to: URL(fileURLWithPath: mark)) }

    func mend() throws { try FileManager.default.removeItem(atPath: mark) }

    /// The files of the state directory that were never put in place.
    var leftovers: [String] {
        get throws {
            try FileManager.default.contentsOfDirectory(atPath: installation.stateDirectory)
                .filter { $0.contains(".tmp-") }.sorted()
        }
    }

    /// Takes them away, as a power cut may.
    func removeLeftovers() throws {
        for name in try leftovers {
            try FileManager.default.removeItem(atPath: installation.stateDirectory + "/" + name)
        }
    }
}
