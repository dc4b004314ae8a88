import Foundation
import JunctionText
import Testing

@testable import JunctionClient

/// How a client finds the daemon's socket: `clients/conformance/sockets.txt`, which the tests of every client read.
struct SocketTableTests {
    private static let table = URL(filePath: #filePath).deletingLastPathComponent()
        .appending(path: "../../../clients/conformance/sockets.txt").standardizedFileURL

    private static func rows() throws -> [[String?]] {
        try String(contentsOf: table, encoding: .utf8).split(separator: "\n").filter { !$0.hasPrefix("#") }
            .map { $0.split(separator: " ").map { $0 == "-" ? nil : text(String($0)) } }
    }

    private static func text(_ cell: String) -> String {
        cell == "EMPTY"
            ? ""
            : cell.replacing("X64", with: String(repeating: "x", count: 64))
                .replacing("X65", with: String(repeating: "x", count: 65))
    }

    @Test(arguments: [
        ("/run/junctiond/work.sock", "work"), ("/run/junctiond/junctiond.sock", "junctiond"),
        ("/tmp/work.sock", "junctiond"), ("/run/junctiond/a/b.sock", "junctiond"),
        ("/run/junctiond/.sock", "junctiond"),
    ])
    func `the socket of a system service shows its installation`(path: String, instance: String) {
        #expect(SocketPath(path).instance.description == instance)
    }

    @Test func `the socket is the one in the table of all clients`() throws {
        let rows = try Self.rows()
        #expect(rows.count >= 20)

        for row in rows {
            let (socket, instance, present, path) = (row[0], row[1], row[4], row[5])
            let environment = ["JUNCTIOND_SOCKET": row[2], "JUNCTIOND_INSTANCE": row[3], "XDG_RUNTIME_DIR": "RUNTIME"]

            let resolved = SocketPath.resolve(
                socket,
                instance: instance,
                environment: { environment[$0] ?? nil },
                exists: { name in present.map { name == "RUNTIME/junctiond/\($0)" } ?? false }
            )

            if path == "invalid" {
                let error = #expect(throws: JunctionError.self, "\(row)") { try resolved.withAddress { _, _ in () } }
                #expect(error?.kind == .invalidSocketPath)
            } else {
                #expect(resolved.text == path, "\(row)")
                #expect(resolved.fault == nil)
            }
        }
    }
}
