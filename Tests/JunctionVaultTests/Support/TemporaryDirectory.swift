import Foundation
import Testing

@testable import JunctionVault

/// A directory on the real disk that goes away with its test.
final class TemporaryDirectory: Sendable {
    let path: String

    init() throws {
        path = FileManager.default.temporaryDirectory.appending(path: "vault-\(UUID().uuidString)").path
        try FileManager.default.createDirectory(
            atPath: path,
            withIntermediateDirectories: false,
            attributes: [.posixPermissions: 0o700]
        )
    }

    deinit {
        try? FileManager.default.removeItem(atPath: path)
    }

    func opened() throws -> StateDirectory { try StateDirectory(path: path) }

    func write(_ bytes: [UInt8], _ name: String, mode: mode_t = 0o600) throws {
        try Data(bytes).write(to: URL(filePath: "\(path)/\(name)"))
        try #require(chmod("\(path)/\(name)", mode) == 0)
    }

    func read(_ name: String) -> [UInt8]? {
        FileManager.default.contents(atPath: "\(path)/\(name)").map(Array.init)
    }

    var names: [String] {
        ((try? FileManager.default.contentsOfDirectory(atPath: path)) ?? []).sorted()
    }

    func mode(_ name: String = "") throws -> mode_t {
        var status = stat()
        try #require(lstat("\(path)/\(name)", &status) == 0)
        return status.st_mode & 0o7777
    }
}
