import JunctionTesting
import JunctionVault
import Testing

@testable import JunctionDaemon
@testable import JunctionSystemd

@Suite struct VaultWithDescriptorBackupTests {
    @Test func `the next start reads the copy of the longest record`() throws {
        let manager = try FakeServiceManager(.abstract)
        let copy = [UInt8](repeating: 7, count: Vault.longestRecord)
        let name = VaultWithDescriptorBackup.names[0]
        #expect(StoredDescriptorFile.keep(copy, as: name, by: Notifier(socket: manager.name)) == .sent)
        let descriptor = try #require(manager.receiveWithDescriptor()?.descriptor)

        var passed = PassedSockets([.init(descriptor: descriptor, name: name)])

        #expect(
            passed.takeKeptFiles(named: VaultWithDescriptorBackup.names, atMost: VaultWithDescriptorBackup.largestCopy)
                == [
                    copy
                ]
        )
    }
}
