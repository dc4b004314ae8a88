import Foundation

/// A handmade defect that the simulation must find: a file of `Tests/Mutation/defects`.
struct Defect {
    /// A replacement of text in a file.
    struct Change: Equatable {
        var file: String
        var find: String
        var replace: String
    }

    let name: String
    let headline: String
    private(set) var changes: [Change] = []

    init(name: String, text: String) throws(MutationFailure) {
        self.name = name
        var lines = text.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)[...]
        headline = lines.popFirst() ?? ""
        guard !headline.isEmpty, !headline.hasPrefix("FILE ") else {
            throw MutationFailure("\(name): the first line has to say what is wrong")
        }
        while let line = lines.popFirst() {
            guard !line.isEmpty else { continue }
            guard line.hasPrefix("FILE "), lines.popFirst() == "FIND" else {
                throw MutationFailure(
                    "\(name): wants blocks of FILE path, FIND, …, REPLACE, …, END; there is '\(line)'"
                )
            }
            let find = try Self.take(until: "REPLACE", &lines, name)
            let replace = try Self.take(until: "END", &lines, name)
            changes.append(Change(file: String(line.dropFirst(5)), find: find, replace: replace))
        }
        guard !changes.isEmpty else { throw MutationFailure("\(name): changes nothing") }
    }

    private static func take(
        until mark: String,
        _ lines: inout ArraySlice<String>,
        _ name: String
    ) throws(MutationFailure) -> String {
        guard let end = lines.firstIndex(of: mark) else { throw MutationFailure("\(name): a block without \(mark)") }
        defer { lines = lines[(end + 1)...] }
        return lines[..<end].joined(separator: "\n")
    }

    /// Returns the changed files. Each text must occur exactly once in its file.
    func applied(in root: URL) throws -> [String: [UInt8]] {
        var texts: [String: String] = [:]
        for change in changes {
            let path = root.appending(path: change.file)
            guard let text = texts[change.file] ?? (try? String(contentsOf: path, encoding: .utf8)) else {
                throw MutationFailure("\(name): \(change.file) is not there")
            }
            let count = text.ranges(of: change.find).count
            guard !change.find.isEmpty, count == 1 else {
                throw MutationFailure("\(name): \(change.file) has this \(count) times, and not once:\n\(change.find)")
            }
            texts[change.file] = text.replacing(change.find, with: change.replace)
        }
        return texts.mapValues { Array($0.utf8) }
    }
}
