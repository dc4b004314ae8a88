import Glibc
import JunctionTesting
import Testing

@testable import JunctionVault

extension TemporaryFolder {
    func opened() throws -> StateDirectory { try StateDirectory(path: path) }

    func mode(_ name: String = "") throws -> mode_t {
        var status = stat()
        try #require(lstat("\(path)/\(name)", &status) == 0)
        return status.st_mode & 0o7777
    }
}
