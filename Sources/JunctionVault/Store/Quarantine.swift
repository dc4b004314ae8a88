import Crypto
import JunctionText

/// Keeps records that could not be verified, because such a record may be the user's only login.
///
/// Quarantine has space for two records. For a third one, it removes first a record that a sign-in has acknowledged, then
/// one without a legible header, then the oldest generation.
struct Quarantine {
    let files: any StateFiles

    static let capacity = 2

    static func name(of bytes: [UInt8], _ finding: Candidate.Finding) -> String {
        let digest = Hexadecimal.text(SHA256.hash(data: bytes).prefix(4))
        return switch finding {
        case .authentic(let opened): "\(agePrefix)\(opened.header.age.name)-\(digest)"
        case .altered(let header), .locked(let header, _): "\(agePrefix)\(header.age.name)-\(digest)"
        case .illegible, .torn, .newer, .unreadable: "\(undatedPrefix)\(digest)"
        }
    }

    private static let agePrefix = "generation-"
    private static let undatedPrefix = "illegible-"

    /// Returns the names of the kept records, without files of other programs.
    func names() throws(FileFault) -> [String] {
        try files.names(in: .quarantine)
            .filter { $0.hasPrefix(Self.agePrefix) || $0.hasPrefix(Self.undatedPrefix) }
            .sorted()
    }

    func take(_ file: StateFile, as name: String, acknowledged: Set<String>) throws(FileFault) {
        try makeRoom(for: name, acknowledged: acknowledged)
        try files.rename(file, to: StateFile(name, in: .quarantine))
        try files.sync(.quarantine)
    }

    /// Links a file that is about to be replaced into quarantine, so that it has a name at every moment.
    func keep(_ file: StateFile, as name: String, acknowledged: Set<String>) throws(FileFault) {
        try makeRoom(for: name, acknowledged: acknowledged)
        try files.link(file, as: StateFile(name, in: .quarantine))
        try files.sync(.quarantine)
    }

    /// Removes all kept records, because no user data may remain after a sign-out.
    func clear() throws(FileFault) {
        let names = try names()
        guard !names.isEmpty else { return }
        for name in names { try files.remove(StateFile(name, in: .quarantine)) }
        try files.sync(.quarantine)
    }

    private func makeRoom(for name: String, acknowledged: Set<String>) throws(FileFault) {
        try files.make(.quarantine)
        var names = try names()
        guard !names.contains(name) else { return }
        while names.count >= Self.capacity {
            guard let least = names.min(by: { rank($0, acknowledged) < rank($1, acknowledged) }) else { return }
            try files.remove(StateFile(least, in: .quarantine))
            names.removeAll { $0 == least }
        }
    }

    /// Ranks records for removal; the lowest rank goes first.
    private func rank(_ name: String, _ acknowledged: Set<String>) -> (Int, RecordAge) {
        let age = name.hasPrefix(Self.agePrefix) ? RecordAge(named: name.dropFirst(Self.agePrefix.count)) : nil
        return (acknowledged.contains(name) ? 0 : age == nil ? 1 : 2, age ?? RecordAge(generation: 0, edition: 0))
    }
}

extension RecordAge {
    /// The age as a part of a file name.
    fileprivate var name: String { "\(generation).\(edition)" }

    /// Reads what `name` wrote, with any text after it.
    fileprivate init?(named text: Substring) {
        let parts = text.prefix { $0 != "-" }.split(separator: ".")
        guard parts.count == 2, let generation = UInt64(parts[0]), let edition = UInt32(parts[1]) else { return nil }
        self.init(generation: generation, edition: edition)
    }
}
