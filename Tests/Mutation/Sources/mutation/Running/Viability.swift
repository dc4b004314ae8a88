import Foundation

/// Finds the mutants that do not compile, from the errors of the compiler.
struct Viability {
    struct Complaint: Hashable {
        var file: String
        var line: Int
        var column: Int
        var message: String
    }

    private static let mostRounds = 20

    /// How widely the cause of each error was searched. An error that returns is searched more widely.
    private var reach: [String: Int] = [:]

    /// Compiles the modules until there are no errors.
    mutating func removeFailing(from mutants: inout MutantSet, in buildFolder: BuildFolder) async throws {
        for round in 1...Self.mostRounds {
            try buildFolder.refresh(changed: mutants.changed)
            guard let words = try await firstComplaint(mutants, buildFolder) else { return }
            let complaints = Self.complaints(in: words, under: buildFolder.copy.path)
            let failing = complaints.reduce(into: Set<Int>()) { $0.formUnion(suspects(of: $1, mutants)) }
            guard !failing.isSubset(of: mutants.unviable) else {
                throw MutationFailure("The sources do not compile, and no mutant is to blame:\n\(words.suffix(4_000))")
            }
            say("  round \(round): \(complaints.count) complaints, \(failing.count) mutants taken out")
            mutants.insert(without: mutants.unviable.union(failing))
        }
        throw MutationFailure("After \(Self.mostRounds) rounds there are still mutants that do not compile")
    }

    private func firstComplaint(_ mutants: MutantSet, _ buildFolder: BuildFolder) async throws -> String? {
        for module in mutants.modules {
            if let words = try await buildFolder.compile(
                module: module.split(separator: "/").last.map(String.init) ?? module
            ) {
                return words
            }
        }
        return nil
    }

    /// Returns the mutants that may have caused an error: in the inserted text, on the line, in the function, or in the
    /// file.
    private mutating func suspects(of complaint: Complaint, _ mutants: MutantSet) -> Set<Int> {
        let standing = mutants.mutants.filter {
            $0.file == complaint.file && !mutants.unviable.contains($0.number)
        }
        switch mutants.woven[complaint.file]?.origin(line: complaint.line, column: complaint.column) {
        case .mutants(let numbers):
            let known = Set(numbers).subtracting(mutants.unviable)
            if !known.isEmpty { return known }
            return Set(standing.map(\.number))
        case .original(let offset):
            return suspects(at: offset, complaint, standing)
        case nil:
            return Set(standing.map(\.number))
        }
    }

    private mutating func suspects(at offset: Int, _ complaint: Complaint, _ standing: [Mutant]) -> Set<Int> {
        let key = "\(complaint.file):\(offset): \(complaint.message)"
        let around = standing.filter { $0.extent.contains(offset) }
        let smallest = around.map(\.extent.count).min()
        let function = standing.filter { $0.function.contains(offset) || $0.function.upperBound == offset }
        let circles = [
            around.filter { $0.extent.count == smallest },
            around,
            // The cause of an error elsewhere is most often a removed statement.
            function.filter(\.kind.takesAway),
            function,
            standing,
        ]
        let first = circles.indices.first { $0 >= reach[key, default: 0] && !circles[$0].isEmpty }
        reach[key] = (first ?? circles.count) + 1
        return Set(first.map { circles[$0] }?.map(\.number) ?? [])
    }

    private static func complaints(in words: String, under copy: String) -> Set<Complaint> {
        var complaints: Set<Complaint> = []
        for line in words.split(separator: "\n") where line.hasPrefix(copy + "/") {
            let parts = line.dropFirst(copy.count + 1).split(separator: ":", maxSplits: 4)
            guard parts.count == 5, parts[3] == " error", let row = Int(parts[1]), let column = Int(parts[2]) else {
                continue
            }
            complaints.insert(
                Complaint(file: String(parts[0]), line: row, column: column, message: String(parts[4]))
            )
        }
        return complaints
    }
}
