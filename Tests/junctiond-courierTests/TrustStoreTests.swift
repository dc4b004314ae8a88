import Foundation
import JunctionSecret
import JunctionTesting
import Testing

@testable import junctiond_courier

/// The choice between the folder and the file of the system's certificates.
struct TrustStoreTests {
    private let folder = TemporaryFolder()

    private func made(_ name: String, hashed: Bool) throws -> String {
        let made = try folder.makeFolder(name)
        try folder.write("", to: name + (hashed ? "/0a1b2c3d.0" : "/authority.pem"))
        return made
    }

    @Test(
        arguments: [
            // The distribution's own folder, as on Debian.
            (own: true, file: true, usual: true, counts: "own"), (own: true, file: false, usual: false, counts: "own"),
            // The own folder is empty: the file counts with any content of the usual folder.
            (own: false, file: true, usual: true, counts: nil), (own: nil, file: true, usual: true, counts: nil),
            // The file is missing or empty.
            (own: nil, file: false, usual: true, counts: "usual"),
            (own: false, file: nil, usual: true, counts: "usual"),
            (own: nil, file: nil, usual: false, counts: nil),
        ] as [(own: Bool?, file: Bool?, usual: Bool, counts: String?)]
    )
    func `the distribution's location takes precedence`(own: Bool?, file: Bool?, usual: Bool, counts: String?) throws {
        let usual = try made("usual", hashed: usual)
        let bundle = folder.path + "/bundle.crt"
        if let file { try folder.write(file ? "PEM" : "", to: "bundle.crt") }
        let store = TrustStore(
            ownFolder: try own.map { try made("own", hashed: $0) },
            file: file.map { _ in bundle },
            otherwise: usual
        )

        #expect(store.sources.folder?.split(separator: "/").last.map(String.init) == counts)
    }

    /// The store stays the same object until a file changes.
    @Test func `the store is not read again while nothing changes`() throws {
        let store = TrustStore(ownFolder: try made("own", hashed: true), file: nil)
        store.trust(SharedSecret(text: Certificates.one))
        let first = try #require(store.authorities)

        #expect(store.authorities === first)
        #expect(first.age == nil)
    }

    @Test(arguments: ["added", "removed", "rewritten", "replaced behind a link", "trusted beside it"])
    func `a changed CA certificate of the folder applies from the next connection on`(change: String) throws {
        let own = URL(filePath: try made("own", hashed: true))
        let target = URL(filePath: try folder.write("x", to: "behind"))
        let link = own.appending(path: "ffffffff.0")
        try FileManager.default.createSymbolicLink(at: link, withDestinationURL: target)
        let store = TrustStore(ownFolder: own.path, file: nil)
        let before = try #require(store.authorities)

        switch change {
        case "added": try Data().write(to: own.appending(path: "00000000.1"))
        case "removed": try FileManager.default.removeItem(at: link)
        case "rewritten": try Data("y".utf8).write(to: own.appending(path: "0a1b2c3d.0"))
        case "replaced behind a link": try Data("z".utf8).write(to: target, options: .atomic)
        default: store.trust(SharedSecret(text: Certificates.one))
        }

        let after = try #require(store.authorities)
        #expect(after !== before)
        #expect(store.authorities === after)
        // Every kept connection is older.
        #expect(after.age == 0)
    }

    @Test func `a replaced CA file applies from the next connection on`() throws {
        let bundle = try folder.write(Certificates.one, to: "bundle.crt")
        let store = TrustStore(ownFolder: nil, file: bundle, otherwise: folder.path)
        let before = try #require(store.authorities)
        #expect(store.authorities === before)

        try Data(try Certificates.some(2).utf8).write(to: URL(filePath: bundle), options: .atomic)

        let after = try #require(store.authorities)
        #expect(after !== before)
    }

    @Test func `an unreadable file gives no store`() throws {
        let store = TrustStore(ownFolder: try made("own", hashed: true), file: nil)
        store.trust(SharedSecret(text: "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n"))
        #expect(store.authorities == nil)

        store.trust(SharedSecret(text: Certificates.one))
        #expect(store.authorities != nil)
    }
}
