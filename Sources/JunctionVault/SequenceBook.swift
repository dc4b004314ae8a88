import Crypto
import Dispatch
import JunctionJSON
package import JunctionSession
import JunctionText
import Synchronization

/// The largest sequences that were used with a provider, in one small file that outlives every session.
///
/// A file that cannot be read is an empty one, and is replaced by the next claim: whether a sequence is large enough is
/// the provider's to judge in the end, and to refuse every sign-in because of a spoilt list would keep a user out for
/// nothing.
package final class SequenceBook: ProviderMemory {
    private let page: Mutex<SequencePage>
    private let queue: DispatchQueue

    /// - Parameter queue: the vault's own: a disk that takes its time keeps nobody from an answer.
    init(_ files: any StateFiles, on queue: DispatchQueue) {
        page = Mutex(SequencePage(files))
        self.queue = queue
    }

    package func claim(_ sequence: UInt64, of subject: String) async throws(SequenceSpent) {
        let outcome = await onQueue { page in
            Result { () throws(SequenceSpent) in try page.claim(sequence, of: subject) }
        }
        try outcome.get()
    }

    package func release(_ sequence: UInt64, of subject: String) async {
        await onQueue { $0.release(sequence, of: subject) }
    }

    private func onQueue<Outcome: Sendable>(_ body: @escaping @Sendable (inout SequencePage) -> Outcome) async
        -> Outcome
    {
        await withCheckedContinuation { continuation in
            queue.async { [self] in continuation.resume(returning: page.withLock { body(&$0) }) }
        }
    }
}

/// What stands in the file, and the file.
struct SequencePage: Sendable {
    private let files: any StateFiles
    private var replacement: DurableReplacement
    /// Read when it is first needed: most providers have no sequences.
    private var list: SequenceList?

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

    /// The file outlives the sign-out, after which nothing on the disk names the user: a digest is name enough here.
    private static func pseudonym(of subject: String) -> String {
        Hexadecimal.text(SHA256.hash(data: Array(subject.utf8)).prefix(SequenceList.lengthOfSubject / 2))
    }

    private mutating func read() -> SequenceList {
        if let list { return list }
        let bytes = try? files.read(.sequences, atMost: SequenceList.longestText + 1)
        let list = bytes.flatMap(SequenceList.init(decoding:)) ?? SequenceList()
        self.list = list
        return list
    }

    /// Remembers in any case; a disk that refuses has the next claim to make up for it.
    private mutating func write(_ list: SequenceList) {
        self.list = list
        try? replacement.replace(.sequences, with: list.encoded())
    }

}

// As JSON.
extension SequenceList {
    /// Several times what the largest list takes.
    static let longestText = 1 << 14
    /// Hexadecimal digits of a digest.
    static let lengthOfSubject = 32
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
        }
        return text.take() + [UInt8(ascii: "\n")]
    }

    /// Reads a list; nil when there is anything in it that was not written here.
    init?(decoding bytes: [UInt8]) {
        guard bytes.count <= Self.longestText, let text = try? JSONValue.parse(bytes),
            text["format"]?.unsigned == Self.format, let sequences = text["sequences"], sequences.kind == .array
        else { return nil }
        var entries: [Entry] = []
        for value in sequences.elements {
            guard let subject = value["subject"]?.string, subject.utf8.count == Self.lengthOfSubject,
                subject.utf8.allSatisfy(Hexadecimal.isLowerCaseDigit), let last = value["last"]?.unsigned,
                !entries.contains(where: { $0.subject == subject }),
                entries.count < Self.capacity
            else { return nil }
            entries.append(Entry(subject: subject, last: last))
        }
        self.init(entries)
    }
}
