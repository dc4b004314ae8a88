import Testing

@testable import mutation

/// Which mutants a file has, and the file that is compiled.
struct MutatedFileTests {
    private func mutants(_ source: String) -> [Mutant] {
        MutatedFile(path: "File.swift", source: source, first: 1).mutants
    }

    /// "original → mutated" of each mutant.
    private func changes(_ source: String) -> [String] {
        mutants(source).map { "\($0.original) → \($0.mutated)" }
    }

    @Test func `operators become other operators`() {
        #expect(
            changes("func f() -> Int { a < b && !c }") == [
                "a < b && !c → a < b || !c",
                "a < b → a <= b",
                "a < b → a >= b",
                "!c → c",
            ]
        )
    }

    @Test func `a statement can be left out, or come after the next`() {
        #expect(
            changes("func f() { a(); b() }") == ["{ f } → return", "a(); b() → b(); a()", "a() → ", "b() → "]
        )
    }

    @Test func `a value loses its parts one by one`() {
        #expect(
            changes("func f() -> [Int] { [1, 2] + g() }") == [
                "{ f } → return []",
                "[1, 2] in [1, 2] + g() → g()",
                "g() in [1, 2] + g() → [1, 2]",
                "1 in [1, 2] → [2]",
                "2 in [1, 2] → [1]",
            ]
        )
    }

    @Test func `a guard leaves, and asks for less`() {
        let source = "func f() -> Int { guard a, let b else { return 0 }; return b }"

        #expect(changes(source) == ["guard a, let b → guard false", "a → true"])
        #expect(mutants(source).map(\.text) == ["false, a, let b", "true"])
    }

    @Test(
        arguments: [
            "let x = switch y { case true: 1; default: 2 }",
            "func f() -> Session { make() }",
            "struct S { init(a: Int) { self.a = a } }",
            "func f() { precondition(a < b) }",
            "func f() -> Uptime { now + a }",
            "let x = a < b",
        ]
    )
    func `what cannot or need not be changed is left alone`(source: String) {
        #expect(changes(source) == [])
    }

    @Test func `assignments that have nothing to do with each other are not swapped`() {
        let source = "func f() { x.a = 1; x.b = y; effects.append(.send(y)); effects += g() }"

        let swaps = mutants(source).filter { $0.kind == .swapStatements }

        #expect(swaps.map(\.original) == ["effects.append(.send(y)); effects += g()"])
    }

    @Test func `each mutant is a copy of the outermost function around it`() {
        let file = MutatedFile(path: "File.swift", source: "var x: Bool { a && b }", first: 7)

        #expect(
            file.text(without: [7]) == """
                var x: Bool { 
                let chosenMutant = mutant(8, 9)
                #sourceLocation(file: "mutants 8-8", line: 1)
                guard chosenMutant != 8 else {
                return false

                }
                #sourceLocation(file: "mutants 9-9", line: 1)
                guard chosenMutant != 9 else {
                return (a || b)

                }
                #sourceLocation(file: "mutants 8-9", line: 1)
                return a && b
                #sourceLocation()
                 }
                """
        )
        #expect(file.text(without: [7, 8, 9]) == "var x: Bool { return a && b }")
    }

    @Test func `a copy without a result returns, and a literal outside of functions is flipped in its place`() {
        let text = MutatedFile(path: "File.swift", source: "var x = true\nfunc f() { g() }", first: 1).text(without: [])

        #expect(text.hasPrefix("var x = (mutant(1) != true)\nfunc f() { \nlet chosenMutant = mutant(2, 2)\n"))
        #expect(text.contains("guard chosenMutant != 2 else {\n()\nreturn\n}\n"))
    }

    @Test func `an error is put down to the mutants in whose lines it is`() {
        let words = """
            mutants 4-4:2:12: error: cannot find 'g' in scope
            mutants 7-9:1:1: error: missing return
            mutants 5-5:1:1: warning: will never be executed
            File.swift:5:1: error: something else
            """

        #expect(MutatedFile.refused(in: words) == [4, 7, 8, 9])
    }
}
