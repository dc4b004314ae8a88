import Foundation
import JunctionSecret
import JunctionTesting
import Testing

@testable import junctiond_courier

/// Which of the system's two ways to keep authorities counts.
struct TrustStoreTests {
    private let folder = TemporaryFolder()

    private func made(_ name: String, hashed: Bool) throws -> String {
        let made = try folder.makeFolder(name)
        try folder.write("", to: name + (hashed ? "/0a1b2c3d.0" : "/authority.pem"))
        return made
    }

    @Test(
        arguments: [
            // The distribution's own folder, as Debian fills it.
            (own: true, file: true, usual: true, counts: "own"), (own: true, file: false, usual: false, counts: "own"),
            // It is not filled: the file, whatever somebody else has put into the usual folder.
            (own: false, file: true, usual: true, counts: nil), (own: nil, file: true, usual: true, counts: nil),
            // There is no file, or nothing in it.
            (own: nil, file: false, usual: true, counts: "usual"),
            (own: false, file: nil, usual: true, counts: "usual"),
            (own: nil, file: nil, usual: false, counts: nil),
        ] as [(own: Bool?, file: Bool?, usual: Bool, counts: String?)]
    )
    func `the way of the distribution counts first`(own: Bool?, file: Bool?, usual: Bool, counts: String?) throws {
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

    /// What was read counts for every connection until something changes.
    @Test func `nothing is read again as long as nothing changes`() throws {
        let store = TrustStore(ownFolder: try made("own", hashed: true), file: nil)
        store.trust(SharedSecret(text: Certificates.one))
        let first = try #require(store.authorities)

        #expect(store.authorities === first)
        #expect(first.age == nil)
    }

    @Test(arguments: ["added", "removed", "rewritten", "replaced behind a link", "trusted beside it"])
    func `an authority of the folder that changes counts from the next connection on`(change: String) throws {
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
        // No kept connection is as new as that.
        #expect(after.age == 0)
    }

    @Test func `a file of authorities that is replaced counts from the next connection on`() throws {
        let bundle = try folder.write(Certificates.one, to: "bundle.crt")
        let store = TrustStore(ownFolder: nil, file: bundle, otherwise: folder.path)
        let before = try #require(store.authorities)
        #expect(store.authorities === before)

        try Data(try Certificates.some(2).utf8).write(to: URL(filePath: bundle), options: .atomic)

        let after = try #require(store.authorities)
        #expect(after !== before)
    }

    @Test func `what cannot be read is no authority`() throws {
        let store = TrustStore(ownFolder: try made("own", hashed: true), file: nil)
        store.trust(SharedSecret(text: "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n"))
        #expect(store.authorities == nil)

        store.trust(SharedSecret(text: Certificates.one))
        #expect(store.authorities != nil)
    }
}
