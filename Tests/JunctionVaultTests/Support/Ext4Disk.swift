import Foundation
import JunctionTesting
import Testing

/// A disk image with an ext4 file system. A copy of the file is the state after a power cut: it lacks everything that
/// the kernel has not written to the disk yet.
final class Ext4Image: Sendable {
    let path: String
    private let folder = TemporaryFolder()

    /// An empty disk.
    convenience init() throws {
        try self.init { path in
            try Data().write(to: URL(filePath: path))
            try #require(truncate(path, 8 << 20) == 0)
            try Command.run("mkfs.ext4", "-q", "-F", path)
        }
    }

    private init(_ make: (_ path: String) throws -> Void) throws {
        path = folder.path + "/image"
        try make(path)
    }

    /// Returns a copy of the disk as it is at this moment.
    func copy() throws -> Ext4Image {
        try Ext4Image { try FileManager.default.copyItem(atPath: path, toPath: $0) }
    }
}

/// A mounted `Ext4Image`. It is unmounted when this object is released.
final class Ext4Disk {
    let image: Ext4Image
    let path: String
    private let folder = TemporaryFolder()

    /// Whether this process may mount an image.
    static let canBeMounted: Bool = {
        guard geteuid() == 0, let disk = try? Ext4Disk(Ext4Image()) else { return false }
        return FileManager.default.fileExists(atPath: disk.path + "/lost+found")
    }()

    init(_ image: Ext4Image) throws {
        self.image = image
        path = folder.path
        // By default, the file system writes unsynced content every five seconds. The `commit` option prevents this.
        try Command.run("mount", "-t", "ext4", "-o", "loop,commit=3600", image.path, path)
        try #require(chmod(path, 0o700) == 0)
    }

    // Lazy, because a process that another test has just started may still have a descriptor of the disk.
    deinit { try? Command.run("umount", "--lazy", path) }
}

private enum Command {
    static func run(_ program: String, _ arguments: String...) throws {
        let arguments = ["PATH=/usr/sbin:/usr/bin:/sbin:/bin", program] + arguments
        let ending = try Program("/usr/bin/env", arguments, in: TemporaryFolder()).wait()
        guard ending.status == 0 else { throw TestFailure(description: "\(program): \(ending.errors)") }
    }
}
