import Foundation

/// The sources of JunctionSession with all their mutants.
struct MutatedModule {
    static let name = "JunctionSession"
    static let folder = "Sources/JunctionSession"

    private let files: [MutatedFile]
    /// Mutants that the compiler refuses.
    var unviable: Set<Int> = []

    init(_ workshop: Workshop) throws {
        var files: [MutatedFile] = []
        var count = 0
        for path in try workshop.files(under: Self.folder) where path.hasSuffix(".swift") {
            let source = try String(contentsOf: workshop.root.appending(path: path), encoding: .utf8)
            let file = MutatedFile(path: path, source: source, first: count + 1)
            count += file.mutants.count
            files.append(file)
        }
        self.files = files
    }

    var mutants: [Mutant] { files.flatMap(\.mutants) }

    /// What is different in the copy that is compiled.
    var changed: [String: String] {
        var changed: [String: String] = [:]
        for file in files { changed[file.path] = file.text(without: unviable) }
        changed["\(Self.folder)/\(Runtime.fileName)"] = Runtime.source(count: mutants.count)
        return changed
    }

    /// A number that changes with every byte of the sources, of their mutants and of these texts.
    func fingerprint(of others: [String] = []) -> String {
        let changed = changed.sorted { $0.key < $1.key }.map(\.value)
        var hash: UInt64 = 0xCBF2_9CE4_8422_2325
        for byte in (changed + others).joined().utf8 { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01B3 }
        return String(hash, radix: 16)
    }
}
