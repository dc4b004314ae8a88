import Foundation

/// All mutants of the chosen folders, and their files.
struct MutantSet {
    let files: [String]
    private let sources: [String: [UInt8]]
    private(set) var mutants: [Mutant] = []
    private(set) var woven: [String: WovenFile] = [:]
    /// The mutants that do not compile.
    private(set) var unviable: Set<Int> = []

    init(_ buildFolder: BuildFolder, folders: [String]) throws {
        files = try folders.flatMap(buildFolder.files).filter { $0.hasSuffix(".swift") }
        guard !files.isEmpty else { throw MutationFailure("No Swift file under \(folders.joined(separator: ", "))") }
        var sources: [String: [UInt8]] = [:]
        for file in files { sources[file] = Array(try Data(contentsOf: buildFolder.root.appending(path: file))) }
        self.sources = sources
        insert(without: [])
    }

    /// The folders of the modules with mutants, each below a `Sources` folder. Each gets the runtime.
    var modules: [String] {
        let folders = files.compactMap { file -> String? in
            let parts = file.split(separator: "/")
            return parts.firstIndex(of: "Sources").map { parts.prefix($0 + 2).joined(separator: "/") }
        }
        return Set(folders).sorted()
    }

    var changed: [String: [UInt8]] {
        var changed = woven.mapValues(\.bytes)
        for module in modules {
            changed["\(module)/\(Runtime.fileName)"] = Array(Runtime.source(count: mutants.count).utf8)
        }
        return changed
    }

    /// Inserts all mutants again, except those. The numbers stay the same.
    mutating func insert(without unviable: Set<Int>) {
        self.unviable = unviable
        mutants = []
        for file in files {
            let source = sources[file] ?? []
            let inserter = MutantInserter(
                file: file,
                source: String(decoding: source, as: UTF8.self),
                first: mutants.count + 1,
                without: unviable
            )
            mutants += inserter.mutants
            woven[file] = inserter.schema.woven(into: source)
        }
    }

    /// Returns a hash of all bytes that affect the mutants.
    func fingerprint(of others: [[UInt8]]) -> String {
        var hash: UInt64 = 0xCBF2_9CE4_8422_2325
        for bytes in files.compactMap({ sources[$0] }) + others {
            for byte in bytes { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01B3 }
        }
        return String(hash, radix: 16)
    }
}
