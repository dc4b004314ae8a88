import Testing

@testable import mutation

/// The inserted mutants, and the unchanged rest of the original.
struct MutantInserterTests {
    private func inserter(_ source: String, without unviable: Set<Int> = []) -> MutantInserter {
        MutantInserter(file: "File.swift", source: source, first: 1, without: unviable)
    }

    private func woven(_ source: String, without unviable: Set<Int> = []) -> String {
        String(
            decoding: inserter(source, without: unviable).schema.woven(into: Array(source.utf8)).bytes,
            as: UTF8.self
        )
    }

    @Test func `operators become nested calls`() {
        #expect(
            woven("let x = a < b && !c")
                == "let x = mutantAnd(mutantLess(a , b, 2, 3) , mutantFlip(!c, 4), 1)"
        )
    }

    @Test func `a mutant that does not compile is counted and not inserted`() {
        let inserter = inserter("let x = a < b && !c", without: [1, 3, 4])

        #expect(inserter.mutants.map(\.number) == [1, 2, 3, 4])
        #expect(woven("let x = a < b && !c", without: [1, 3, 4]) == "let x = mutantLess(a , b, 2, -1) && !c")
    }

    @Test func `a statement can be dropped or swapped with the next`() {
        #expect(
            woven("func f() { a(); b() }")
                == "func f() { if mutant(1) { return }; if mutant(2) { b() }; if !(mutant(3)) { a() }; "
                + "if !(mutant(4) || mutant(2)) { b() } }"
        )
    }

    @Test func `each part of a value can be dropped`() {
        #expect(
            woven("func f() -> [Int] { [1] + g() }")
                == "func f() -> [Int] { if mutant(1) { return [] }; "
                + "return if mutant(2) { g() } else if mutant(3) { [1] } else { [1] + g() } }"
        )
    }

    @Test func `a guard can always leave, and lose a condition`() {
        #expect(
            woven("func f() -> Int { guard a, let b else { return 0 }; return b }")
                == "func f() -> Int { guard !mutant(1), mutantForce(a, 2), let b else { return 0 }; return b }"
        )
    }

    @Test(
        arguments: [
            "let x = switch y { case true: 1; default: 2 }",
            "struct S { init(a: Int) { self.a = a } }",
            "func f() -> Session { make() }",
            "func f() { precondition(a < b) }",
        ]
    )
    func `code that cannot or need not be changed has no mutants`(source: String) {
        #expect(woven(source) == source)
    }

    @Test func `independent assignments are not swapped`() {
        let source = "func f() { x.a = 1; x.b = y; effects.append(.send(y)); effects += g() }"

        let swaps = inserter(source).mutants.filter { $0.kind == .swapStatements }

        #expect(swaps.map(\.original) == ["effects.append(.send(y)); effects += g()"])
    }

    @Test func `an error leads to the inserted text, or to its place in the original`() throws {
        let source = "let a = 1\nlet x = a < b"
        let file = inserter(source).schema.woven(into: Array(source.utf8))

        guard case .mutants(let numbers) = file.origin(line: 2, column: 10) else {
            throw MutationFailure("Not a mutant")
        }
        #expect(numbers == [1, 2])
        guard case .original(let offset) = file.origin(line: 2, column: 20) else {
            throw MutationFailure("Not the original")
        }
        #expect(offset == source.utf8.count - 5)
    }
}
