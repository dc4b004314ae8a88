import Foundation
import JunctionSession
import JunctionTesting
import Testing

@testable import JunctionDaemon

/// The permissions of secret files that the configuration names.
@Suite struct SecretFileTests {
    private let folder = TemporaryFolder()
    private let file: String

    init() throws {
        file = try folder.write("secret", to: "secret")
    }

    private func finding(file mode: Int, folder folderMode: Int = 0o755, group: Int? = nil) throws -> ProbeFinding? {
        var attributes: [FileAttributeKey: Any] = [.posixPermissions: mode]
        if let group { attributes[.groupOwnerAccountID] = group }
        try FileManager.default.setAttributes(attributes, ofItemAtPath: file)
        try FileManager.default.setAttributes([.posixPermissions: folderMode], ofItemAtPath: folder.path)
        return SecretFile(setting: "a.b", path: file, credential: "a.c").finding
    }

    @Test func `a file that only its owner can read has no finding`() throws {
        #expect(try finding(file: 0o600) == nil)
        #expect(try finding(file: 0o400) == nil)
    }

    @Test func `a world-readable file is a problem, and the remedy is a credential`() throws {
        let finding = try #require(try finding(file: 0o644))

        #expect(finding.verdict == .problem)
        #expect(finding.detail == "a.b: every user of this machine can read \(file).")
        #expect(finding.remedy?.contains("LoadCredential=a.c:\(file)") == true)
    }

    @Test func `a world-readable file in a private folder is a note`() throws {
        #expect(try finding(file: 0o644, folder: 0o700)?.verdict == .note)
    }

    @Test(.enabled(if: geteuid() == 0))
    func `a group-readable file is a note, unless the group is root's`() throws {
        #expect(try finding(file: 0o640, group: 12_345)?.verdict == .note)
        #expect(try finding(file: 0o640, group: 0) == nil)
    }

    @Test func `a missing file has no finding`() {
        #expect(SecretFile(setting: "a.b", path: "/nowhere/secret", credential: "a.c").finding == nil)
    }
}
