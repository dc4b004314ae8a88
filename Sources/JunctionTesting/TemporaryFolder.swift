import Foundation
import Synchronization

/// A temporary folder that is deleted when this object is released.
package final class TemporaryFolder: Sendable {
    package let path: String
    private let count = Mutex(0)

    /// - Parameter mode: The permissions. With 0755, other users can reach a socket in the folder.
    package init(mode: UInt32 = 0o700) {
        // TMPDIR is not used because the path of a socket must be short.
        var template = Array("/tmp/junctiond-test-XXXXXX".utf8CString)
        guard mkdtemp(&template) != nil, chmod(template, mode) == 0 else {
            fatalError("A temporary folder cannot be made: \(String(cString: strerror(errno)))")
        }
        path = String(decoding: template.dropLast().map(UInt8.init(bitPattern:)), as: UTF8.self)
    }

    /// Returns a new path in the folder on each call. The file does not exist yet.
    package func fresh(_ name: String) -> String {
        let number = count.withLock { count in
            count += 1
            return count
        }
        return "\(path)/\(number)-\(name)"
    }

    @discardableResult
    package func write(_ text: String, to name: String, mode: UInt32 = 0o600) throws -> String {
        try write(text.utf8, to: name, mode: mode)
    }

    @discardableResult
    package func write(_ bytes: some Sequence<UInt8>, to name: String, mode: UInt32 = 0o600) throws -> String {
        let file = path + "/" + name
        try Data(bytes).write(to: URL(filePath: file))
        guard chmod(file, mode) == 0 else { throw TestFailure("chmod \(file)", errno: errno) }
        return file
    }

    /// Creates a folder with its parent folders and returns its path.
    @discardableResult
    package func makeFolder(_ name: String) throws -> String {
        let folder = path + "/" + name
        try FileManager.default.createDirectory(
            atPath: folder,
            withIntermediateDirectories: true,
            attributes: [.posixPermissions: 0o700]
        )
        return folder
    }

    package func read(_ name: String) -> [UInt8]? {
        FileManager.default.contents(atPath: path + "/" + name).map(Array.init)
    }

    /// The sorted names of the files in the folder.
    package var names: [String] {
        ((try? FileManager.default.contentsOfDirectory(atPath: path)) ?? []).sorted()
    }

    deinit { try? FileManager.default.removeItem(atPath: path) }
}
