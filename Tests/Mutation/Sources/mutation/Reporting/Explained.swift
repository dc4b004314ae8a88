import Foundation

/// The explained survivors, with the reason why no test can detect them: `Tests/Mutation/explained.txt`.
struct Explained {
    struct Entry: Equatable {
        var file = ""
        var kind = ""
        var original = ""
        /// The mutated text, if the original has several mutants of one kind. `nil` matches all of them.
        var mutated: String?
        var reason = ""
        var line = 0

        func explains(_ mutant: Mutant) -> Bool {
            file == mutant.file && kind == mutant.kind.rawValue && original == mutant.original
                && (mutated ?? mutant.mutated) == mutant.mutated
        }
    }

    private(set) var entries: [Entry] = []

    func explains(_ mutant: Mutant) -> Bool { entries.contains { $0.explains(mutant) } }

    init(_ file: URL) throws {
        guard let text = try? String(contentsOf: file, encoding: .utf8) else { return }
        var entry = Entry()
        // An empty line ends an entry, also the last one.
        let lines = (text + "\n\n").split(separator: "\n", omittingEmptySubsequences: false)
        for (index, line) in lines.enumerated() {
            let words = String(line).inOneLine
            if words.isEmpty {
                if entry != Entry() { try close(entry, file) }
                entry = Entry()
            } else if !words.hasPrefix("#") {
                try Self.read(words, into: &entry, at: index + 1, file)
            }
        }
    }

    private mutating func close(_ entry: Entry, _ file: URL) throws(MutationFailure) {
        guard !entry.file.isEmpty, !entry.kind.isEmpty, !entry.original.isEmpty, !entry.reason.isEmpty else {
            throw MutationFailure("\(file.path):\(entry.line): an entry wants file, operator, original and reason")
        }
        entries.append(entry)
    }

    private static func read(_ words: String, into entry: inout Entry, at line: Int, _ file: URL)
        throws(MutationFailure)
    {
        let parts = words.split(separator: ":", maxSplits: 1)
        let value = parts.count == 2 ? String(parts[1]).inOneLine : ""
        if entry.line == 0 { entry.line = line }
        switch parts[0] {
        case "file": entry.file = value
        case "operator": entry.kind = value
        case "original": entry.original = value
        case "mutated": entry.mutated = value
        case "reason": entry.reason = value
        default: throw MutationFailure("\(file.path):\(line): '\(parts[0])' is no field of an entry")
        }
    }
}
