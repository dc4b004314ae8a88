import Foundation
import JunctionSession
import JunctionTesting
import Testing

@testable import JunctionDaemon

/// Who can read a secret that the configuration names.
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

    @Test func `what its owner alone can read is in order`() throws {
        #expect(try finding(file: 0o600) == nil)
        #expect(try finding(file: 0o400) == nil)
    }

    @Test func `what everybody can read is a problem, with the credential for a remedy`() throws {
        let finding = try #require(try finding(file: 0o644))

        #expect(finding.verdict == .problem)
        #expect(finding.detail == "a.b: every user of this machine can read \(file).")
        #expect(finding.remedy?.contains("LoadCredential=a.c:\(file)") == true)
    }

    @Test func `what everybody could read, were it not for the folder, is a note`() throws {
        #expect(try finding(file: 0o644, folder: 0o700)?.verdict == .note)
    }

    @Test(.enabled(if: geteuid() == 0))
    func `what a group can read is a note, unless it is root's`() throws {
        #expect(try finding(file: 0o640, group: 12_345)?.verdict == .note)
        #expect(try finding(file: 0o640, group: 0) == nil)
    }

    @Test func `what is not there is for the start to complain about`() {
        #expect(SecretFile(setting: "a.b", path: "/nowhere/secret", credential: "a.c").finding == nil)
    }
}
