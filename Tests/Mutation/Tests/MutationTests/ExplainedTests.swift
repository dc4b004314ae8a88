import Foundation
import Testing

@testable import mutation

/// Reading the explained survivors.
struct ExplainedTests {
    private func explained(_ text: String) throws -> Explained {
        let file = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString)
        defer { try? FileManager.default.removeItem(at: file) }
        try text.write(to: file, atomically: true, encoding: .utf8)
        return try Explained(file)
    }

    private func mutant(becoming mutated: String) -> Mutant {
        Mutant(
            number: 1,
            file: "A.swift",
            line: 7,
            kind: .relaxComparison,
            original: "a < b",
            mutated: mutated,
            extent: 0..<1,
            function: 0..<1
        )
    }

    @Test func `an entry explains the mutant that it names`() throws {
        let text = "# why\nfile: A.swift\noperator: relax-comparison\noriginal: a  < b\nmutated: a <= b\nreason: same\n"

        let entry = try #require(try explained(text).entries.first)

        #expect(entry.explains(mutant(becoming: "a <= b")))
        #expect(!entry.explains(mutant(becoming: "a == b")))
    }

    @Test func `an entry without mutated text explains every mutant of the original text`() throws {
        let text = "file: A.swift\noperator: relax-comparison\noriginal: a < b\nreason: same"

        let entry = try #require(try explained(text).entries.first)

        #expect(entry.explains(mutant(becoming: "anything")))
    }

    @Test(arguments: ["file: A.swift\n", "fil: A.swift\n"])
    func `an entry without its fields is reported`(text: String) {
        #expect(throws: MutationFailure.self) { try explained(text) }
    }
}
