import Crypto
import JunctionJSON
package import JunctionSession
import JunctionText
import Synchronization

/// Stores what `ProviderMemory` remembers, the largest used sequences and one fact, in a small file that survives
/// sign-outs.
///
/// If the file cannot be read, it counts as empty, and the next claim replaces it. In the end the provider decides
/// whether a sequence is large enough, so a damaged list must not prevent every sign-in.
package final class SequenceStore: ProviderMemory {
    private let page: Mutex<SequencePage>
    private let disk: DiskQueue

    /// - Parameter disk: the vault's queue, so that a slow disk does not delay answers.
    init(_ files: any StateFiles, on disk: DiskQueue) {
        page = Mutex(SequencePage(files))
        self.disk = disk
    }

    package func claim(_ sequence: UInt64, of subject: String) async throws(SequenceSpent) {
        let outcome = await disk.result { [self] in
            page.withLock { page in Result { () throws(SequenceSpent) in try page.claim(sequence, of: subject) } }
        }
        // While the disk stalls, only the provider knows whether the sequence is used.
        try outcome?.get()
    }

    package func release(_ sequence: UInt64, of subject: String) {
        disk.run { [self] in page.withLock { $0.release(sequence, of: subject) } }
    }

    package func note(_ fact: String?) {
        disk.run { [self] in page.withLock { $0.note(fact) } }
    }

    package func isNoted(_ fact: String) -> Bool {
        page.withLock { $0.isNoted(fact) }
    }
}

/// The file and its content.
struct SequencePage: Sendable {
    private let files: any StateFiles
    private var replacement: DurableReplacement
    /// Read at the first use, because most providers have no sequences.
    private var list: SequenceList?
    /// Whether the last write succeeded.
    private var isStored = true

    init(_ files: any StateFiles) {
        self.files = files
        replacement = DurableReplacement(files)
    }

    mutating func claim(_ sequence: UInt64, of subject: String) throws(SequenceSpent) {
        var list = read()
        try list.claim(sequence, of: Self.pseudonym(of: subject))
        write(list)
    }

    mutating func release(_ sequence: UInt64, of subject: String) {
        var list = read()
        if list.release(sequence, of: Self.pseudonym(of: subject)) { write(list) }
    }

    mutating func note(_ fact: String?) {
        var list = read()
        let fact = fact.map(Self.pseudonym)
        guard list.fact != fact || !isStored else { return }
        list.fact = fact
        write(list)
    }

    mutating func isNoted(_ fact: String) -> Bool {
        read().fact == Self.pseudonym(of: fact)
    }

    /// Returns a digest of the subject or fact. The file stays after a sign-out, and then no file may name the user.
    private static func pseudonym(of subject: String) -> String {
        Hexadecimal.text(SHA256.hash(data: Array(subject.utf8)).prefix(SequenceList.lengthOfPseudonym / 2))
    }

    private mutating func read() -> SequenceList {
        if let list { return list }
        let bytes = try? files.read(.sequences, atMost: SequenceList.longestText + 1)
        let list = bytes.flatMap(SequenceList.init(decoding:)) ?? SequenceList()
        self.list = list
        return list
    }

    /// Keeps the list in memory even if the write fails. The next claim or note writes it again.
    private mutating func write(_ list: SequenceList) {
        self.list = list
        isStored = (try? replacement.replace(.sequences, with: list.encoded())) != nil
    }
}

extension SequenceList {
    /// In bytes: several times the largest list.
    static let longestText = 1 << 14
    /// Hexadecimal digits of a digest.
    static let lengthOfPseudonym = 32
    private static let format: UInt64 = 1

    func encoded() -> [UInt8] {
        var text = JSONWriter()
        text.object { text in
            text.member("format", Self.format)
            text.array("sequences") { text in
                for entry in entries {
                    text.object { text in
                        text.member("subject", entry.subject)
                        text.member("last", entry.last)
                    }
                }
            }
            if let fact { text.member("fact", fact) }
        }
        return text.take() + [UInt8(ascii: "\n")]
    }

    /// Reads a list. Returns nil if it has any content that `encoded` does not write.
    init?(decoding bytes: [UInt8]) {
        guard bytes.count <= Self.longestText, let text = try? JSONValue.parse(bytes),
            text["format"]?.unsigned == Self.format, let sequences = text["sequences"], sequences.kind == .array
        else { return nil }
        var entries: [Entry] = []
        for value in sequences.elements {
            guard let subject = value["subject"]?.string, Self.isPseudonym(subject), let last = value["last"]?.unsigned,
                !entries.contains(where: { $0.subject == subject }),
                entries.count < Self.capacity
            else { return nil }
            entries.append(Entry(subject: subject, last: last))
        }
        let fact = text["fact"]?.string
        guard text["fact"] == nil || fact.map(Self.isPseudonym) == true else { return nil }
        self.init(entries, fact: fact)
    }

    private static func isPseudonym(_ text: String) -> Bool {
        text.utf8.count == lengthOfPseudonym && text.utf8.allSatisfy(Hexadecimal.isLowerCaseDigit)
    }
}
