import FoundationEssentials

/// A request as it came in, fit to be shown: no value that could be a secret is in it.
struct RequestNote: Codable, Sendable {
    struct Field: Codable, Sendable {
        let name: String
        /// The value of a field known to be harmless, else `sha256:` and its fingerprint.
        let value: String
    }

    /// Its place among all that there have been.
    var number = 0
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
struct RequestLog: Sendable {
    /// Enough for a test to look back on, little enough to stay small under a load test.
    static let capacity = 500

    private(set) var notes: [RequestNote] = []
    private var count = 0

    mutating func add(_ note: RequestNote) {
        if notes.count == Self.capacity { notes.removeFirst() }
        count += 1
        notes.append(note)
        notes[notes.count - 1].number = count
    }

    /// Forgets the notes; numbers go on, since a page may still show what had them.
    mutating func clear() {
        notes.removeAll()
    }
}
