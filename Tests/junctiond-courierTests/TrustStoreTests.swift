import Foundation
import Testing

@testable import junctiond_courier

/// Which of the system's two ways to keep authorities counts.
struct TrustStoreTests {
    private let folder = FileManager.default.temporaryDirectory.appending(path: "trust-\(UUID().uuidString)")

    private func made(_ name: String, hashed: Bool) throws -> String {
        let folder = folder.appending(path: name)
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        try Data().write(to: folder.appending(path: hashed ? "0a1b2c3d.0" : "authority.pem"))
        return folder.path
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
        defer { try? FileManager.default.removeItem(at: folder) }
        let usual = try made("usual", hashed: usual)
        let bundle = folder.appending(path: "bundle.crt")
        if let file { try Data(file ? "PEM".utf8 : "".utf8).write(to: bundle) }
        let store = TrustStore(
            ownFolder: try own.map { try made("own", hashed: $0) },
            file: file.map { _ in bundle.path }
        )

        #expect(store.folder(otherwise: usual)?.split(separator: "/").last.map(String.init) == counts)
    }
}
