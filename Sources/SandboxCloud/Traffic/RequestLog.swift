import FoundationEssentials
import Synchronization

/// A request as it came in, fit to be shown: no value that could be a secret is in it.
struct RequestNote: Codable, Sendable {
    struct Field: Codable, Sendable {
        let name: String
        /// The value of a field known to be harmless, else `sha256:` and its fingerprint.
        let value: String
    }

    let at: Date
    let method: String
    let path: String
    let contentType: String?
    /// The names of the headers, in lower case.
    let headers: [String]
    let form: [Field]
    /// How long the body was.
    let bodyBytes: Int

    private static let harmless: Set<String> = [
        "grant_type", "subject_token_type", "client_id", "client_assertion_type", "scope", "resource", "audience",
        "token_type_hint",
    ]

    static func fields(of form: Form?) -> [Field] {
        (form?.fields ?? []).map { name, value in
            let shown = harmless.contains(name) ? value : "sha256:" + TokenText.fingerprint(value)
            return Field(name: name, value: shown)
        }
    }
}

/// The last requests to a vendor's endpoints, the oldest first.
final class RequestLog: Sendable {
    /// Enough for a test to look back on, little enough to stay small under a load test.
    static let capacity = 500

    /// A note with its place among all that there have been.
    struct Numbered: Encodable, Sendable {
        let number: Int
        let note: RequestNote
    }

    private struct Pages {
        var notes: [RequestNote] = []
        /// How many were there before those that are still kept.
        var dropped = 0
    }

    private let pages = Mutex(Pages())

    var all: [RequestNote] { pages.withLock { $0.notes } }

    /// The last few, the newest first.
    func latest(_ count: Int) -> [Numbered] {
        pages.withLock { pages in
            pages.notes.indices.suffix(count).reversed().map {
                Numbered(number: pages.dropped + $0 + 1, note: pages.notes[$0])
            }
        }
    }

    func add(_ note: RequestNote) {
        pages.withLock { pages in
            if pages.notes.count == Self.capacity {
                pages.notes.removeFirst()
                pages.dropped += 1
            }
            pages.notes.append(note)
        }
    }

    /// Forgets the notes; numbers go on, since a page may still show what had them.
    func clear() {
        pages.withLock { pages in
            pages.dropped += pages.notes.count
            pages.notes.removeAll()
        }
    }
}
