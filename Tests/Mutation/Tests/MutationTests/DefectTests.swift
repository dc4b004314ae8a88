import Foundation
import Testing

@testable import mutation

/// Reading and applying a defect.
struct DefectTests {
    private let text = """
        Something is wrong.

        FILE a.txt
        FIND
        one
        two
        REPLACE
        three
        END
        """

    private func applied(to content: String) throws -> [String: [UInt8]] {
        let folder = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString)
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        try content.write(to: folder.appending(path: "a.txt"), atomically: true, encoding: .utf8)
        return try Defect(name: "01", text: text).applied(in: folder)
    }

    @Test func `a defect replaces its text`() throws {
        let changed = try applied(to: "zero\none\ntwo\nfour\n")

        #expect(try Defect(name: "01", text: text).headline == "Something is wrong.")
        #expect(changed == ["a.txt": Array("zero\nthree\nfour\n".utf8)])
    }

    @Test(arguments: ["none", "one\ntwo\none\ntwo\n"])
    func `text that does not occur exactly once is reported`(content: String) {
        #expect(throws: MutationFailure.self) { try applied(to: content) }
    }

    @Test(arguments: [
        "", "FILE a\nFIND\n", "Headline", "Headline\nFILE a\nREPLACE\nEND", "Headline\nFILE a\nFIND\nx\nEND",
    ])
    func `a malformed file is reported`(text: String) {
        #expect(throws: MutationFailure.self) { try Defect(name: "01", text: text) }
    }
}
