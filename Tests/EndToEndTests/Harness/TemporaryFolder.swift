import Foundation
import Synchronization

/// A folder that is gone after the test.
final class TemporaryFolder: Sendable {
    let path: String
    private let count = Mutex(0)

    init() throws {
        var template = Array("/tmp/junctiond-e2e-XXXXXX".utf8CString)
        guard mkdtemp(&template) != nil else { throw Program.Failure(description: "mkdtemp failed: \(errno)") }
        path = String(decoding: template.dropLast().map(UInt8.init(bitPattern:)), as: UTF8.self)
    }

    /// A path that nothing has yet.
    func fresh(_ name: String) -> String {
        let number = count.withLock { count in
            count += 1
            return count
        }
        return "\(path)/\(number)-\(name)"
    }

    func write(_ text: String, to name: String, mode: Int = 0o600) throws -> String {
        try write(Data(text.utf8), to: name, mode: mode)
    }

    func write(_ bytes: Data, to name: String, mode: Int = 0o600) throws -> String {
        let file = path + "/" + name
        try bytes.write(to: URL(fileURLWithPath: file))
        try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: file)
        return file
    }

    func makeFolder(_ name: String) throws -> String {
        let folder = path + "/" + name
        try FileManager.default.createDirectory(
            atPath: folder,
            withIntermediateDirectories: true,
            attributes: [.posixPermissions: 0o700]
        )
        return folder
    }

    deinit { try? FileManager.default.removeItem(atPath: path) }
}

extension FileManager {
    /// Every plain file below a folder, with what is in it.
    func contents(below folder: String) -> [(path: String, bytes: Data)] {
        (subpaths(atPath: folder) ?? []).compactMap { name in
            let path = folder + "/" + name
            return contents(atPath: path).map { (path, $0) }
        }
    }

    func mode(of path: String) -> Int? {
        (try? attributesOfItem(atPath: path))?[.posixPermissions] as? Int
    }
}
