import Crypto
import JunctionText

/// Records that could not be verified, kept out of the way: they may hold the only login that somebody has.
///
/// There is space for two. When a third comes, what a sign-in has settled goes first, then what has no legible header,
/// then the oldest generation.
struct Quarantine {
    let files: any StateFiles

    static let capacity = 2

    /// The name of this content in quarantine.
    static func name(of bytes: [UInt8], _ finding: Candidate.Finding) -> String {
        let digest = Hexadecimal.text(SHA256.hash(data: bytes).prefix(4))
        return switch finding {
        case .authentic(let opened): "\(agePrefix)\(opened.header.age.name)-\(digest)"
        case .altered(let header), .locked(let header, _): "\(agePrefix)\(header.age.name)-\(digest)"
        case .illegible, .torn, .newer, .unreadable: "\(agelessPrefix)\(digest)"
        }
    }

    private static let agePrefix = "generation-"
    private static let agelessPrefix = "illegible-"

    /// The names that are there, without what somebody else put beside them.
    func names() throws(FileFault) -> [String] {
        try files.names(in: .quarantine)
            .filter { $0.hasPrefix(Self.agePrefix) || $0.hasPrefix(Self.agelessPrefix) }
            .sorted()
    }

    /// Moves a file here.
    func take(_ file: StateFile, as name: String, settled: Set<String>) throws(FileFault) {
        try makeRoom(for: name, settled: settled)
        try files.rename(file, to: StateFile(name, in: .quarantine))
        try files.sync(.quarantine)
    }

    /// Gives a file that is about to be replaced a second name here, so that it is at no moment without one.
    func keep(_ file: StateFile, as name: String, settled: Set<String>) throws(FileFault) {
        try makeRoom(for: name, settled: settled)
        try files.link(file, as: StateFile(name, in: .quarantine))
        try files.sync(.quarantine)
    }

    /// Removes everything: nothing of a user stays behind after a sign-out.
    func clear() throws(FileFault) {
        let names = try names()
        guard !names.isEmpty else { return }
        for name in names { try files.remove(StateFile(name, in: .quarantine)) }
        try files.sync(.quarantine)
    }

    private func makeRoom(for name: String, settled: Set<String>) throws(FileFault) {
        try files.make(.quarantine)
        var names = try names()
        guard !names.contains(name) else { return }
        while names.count >= Self.capacity {
            guard let least = names.min(by: { rank($0, settled) < rank($1, settled) }) else { return }
            try files.remove(StateFile(least, in: .quarantine))
            names.removeAll { $0 == least }
        }
    }

    /// What is given up first ranks lowest.
    private func rank(_ name: String, _ settled: Set<String>) -> (Int, RecordAge) {
        let age = name.hasPrefix(Self.agePrefix) ? RecordAge(named: name.dropFirst(Self.agePrefix.count)) : nil
        return (settled.contains(name) ? 0 : age == nil ? 1 : 2, age ?? RecordAge(generation: 0, edition: 0))
    }
}

extension RecordAge {
    /// How the age is written into a file's name.
    fileprivate var name: String { "\(generation).\(edition)" }

    /// Reads what `name` wrote, with anything after it.
    fileprivate init?(named text: Substring) {
        let parts = text.prefix { $0 != "-" }.split(separator: ".")
        guard parts.count == 2, let generation = UInt64(parts[0]), let edition = UInt32(parts[1]) else { return nil }
        self.init(generation: generation, edition: edition)
    }
}
