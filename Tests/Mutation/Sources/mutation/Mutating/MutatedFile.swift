import SwiftSyntax

/// A source file with all its mutants. Each mutant is a copy of the function around it, in front of the original.
struct MutatedFile {
    let path: String
    let mutants: [Mutant]
    private let source: [UInt8]

    /// - Parameter first: the number of the file's first mutant.
    init(path: String, source: String, first: Int) {
        self.path = path
        let tree = ReturnWriter.tree(of: source)
        mutants = MutantFinder(file: path, tree: tree, first: first).mutants
        self.source = tree.syntaxTextBytes
    }

    /// The file as it is compiled.
    func text(without unviable: Set<Int>) -> String {
        let viable = mutants.filter { !unviable.contains($0.number) }
        let places = Dictionary(grouping: viable) { $0.body?.extent ?? $0.extent }
        var text = ""
        var position = 0
        for (extent, mutants) in places.sorted(by: { $0.key.lowerBound < $1.key.lowerBound }) {
            text += original(position..<extent.lowerBound)
            if let body = mutants[0].body {
                text += copies(of: body, mutants)
            } else {
                text += "(mutant(\(mutants[0].number)) != \(original(extent)))"
            }
            position = extent.upperBound
        }
        return text + original(position..<source.count)
    }

    /// A `guard` for each mutant: a copy that does not leave the function is a complaint about this mutant, and each
    /// complaint of the compiler names the mutants in whose lines it is.
    private func copies(of body: Mutant.Body, _ mutants: [Mutant]) -> String {
        let numbers = mutants.map(\.number)
        let (first, last) = (numbers.min() ?? 0, numbers.max() ?? 0)
        var text = "\nlet chosenMutant = mutant(\(first), \(last))\n"
        for mutant in mutants {
            let before = original(body.extent.lowerBound..<mutant.extent.lowerBound)
            let after = original(mutant.extent.upperBound..<body.extent.upperBound)
            text += """
                #sourceLocation(file: "mutants \(mutant.number)-\(mutant.number)", line: 1)
                guard chosenMutant != \(mutant.number) else {
                \(before)\(mutant.text)\(after)
                \(body.hasResult ? "" : "return")
                }

                """
        }
        return text + """
            #sourceLocation(file: "mutants \(first)-\(last)", line: 1)
            \(original(body.extent))
            #sourceLocation()

            """
    }

    private func original(_ extent: Range<Int>) -> String {
        String(decoding: source[extent], as: UTF8.self)
    }

    /// The mutants of which the compiler complains in these words.
    static func refused(in words: String) -> Set<Int> {
        let complaint = /mutants ([0-9]+)-([0-9]+):[0-9]+:[0-9]+: error:/
        return words.matches(of: complaint).reduce(into: []) { refused, match in
            if let first = Int(match.1), let last = Int(match.2) { refused.formUnion(first...last) }
        }
    }
}
