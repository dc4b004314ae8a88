import Foundation
import Testing

@testable import mutation

/// Reading a defect, and putting it in.
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

    @Test func `the text is replaced`() throws {
        let changed = try applied(to: "zero\none\ntwo\nfour\n")

        #expect(try Defect(name: "01", text: text).headline == "Something is wrong.")
        #expect(changed == ["a.txt": Array("zero\nthree\nfour\n".utf8)])
    }

    @Test(arguments: ["none", "one\ntwo\none\ntwo\n"])
    func `text that is not there exactly once is complained of`(content: String) {
        #expect(throws: Trouble.self) { try applied(to: content) }
    }

    @Test(arguments: [
        "", "FILE a\nFIND\n", "Headline", "Headline\nFILE a\nREPLACE\nEND", "Headline\nFILE a\nFIND\nx\nEND",
    ])
    func `a file that is not in this form is complained of`(text: String) {
        #expect(throws: Trouble.self) { try Defect(name: "01", text: text) }
    }
}
