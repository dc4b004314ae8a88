import FoundationEssentials

/// A received request without any value that could be a secret.
struct RequestNote: Codable, Sendable {
    struct Field: Codable, Sendable {
        let name: String
        /// The value of a field that cannot be secret, otherwise `sha256:` and a fingerprint.
        let value: String
    }

    /// The number of the request since the start.
    var number = 0
    let at: Date
    let method: String
    let path: String
    let contentType: String?
    /// The names of the headers, in lower case.
    let headers: [String]
    let form: [Field]
    let bodyBytes: Int

    private static let shownHeaders: Set<String> = [
        "grant_type", "subject_token_type", "client_id", "client_assertion_type", "scope", "resource", "audience",
        "token_type_hint",
    ]

    static func fields(of form: Form?) -> [Field] {
        (form?.fields ?? []).map { name, value in
            let shown = shownHeaders.contains(name) ? value : "sha256:" + TokenText.fingerprint(value)
            return Field(name: name, value: shown)
        }
    }
}

/// The last requests to a vendor's endpoints, the oldest first.
struct RequestLog: Sendable {
    /// The largest number of notes, which limits the memory use under a load test.
    static let capacity = 500

    private(set) var notes: [RequestNote] = []
    private var count = 0

    mutating func add(_ note: RequestNote) {
        if notes.count == Self.capacity { notes.removeFirst() }
        count += 1
        notes.append(note)
        notes[notes.count - 1].number = count
    }

    /// Removes the notes. The numbers continue, because a page may still show earlier ones.
    mutating func clear() {
        notes.removeAll()
    }
}
