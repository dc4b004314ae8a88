package import JunctionJSON

/// The id that ties an answer to its request: whatever the caller chose, echoed exactly as it was written.
package struct RequestID: Sendable {
    // Not private: a copy in another module would go through the type's metadata.
    enum Storage {
        case view(JSONValue)
        case copy(String)
    }

    private let storage: Storage

    /// The id of an error about a message whose id could not be read.
    package static let null = RequestID(storage: .copy("null"))

    /// An id of our own.
    package init(_ number: Int64) {
        storage = .copy(String(number))
    }

    /// The id of a message; nothing when it is neither string, number nor null.
    package init?(_ value: JSONValue) {
        switch value.kind {
        case .string, .number, .null: storage = .view(value)
        case .bool, .array, .object: return nil
        }
    }

    private init(storage: Storage) {
        self.storage = storage
    }

    /// The same id without the rest of its message, for requests that are answered later.
    ///
    /// The message may hold a credential, and its reader cannot use that memory again before it is let go. An id
    /// of up to 15 bytes needs no memory of its own.
    package var detached: RequestID {
        guard case .view(let value) = storage else { return self }
        return RequestID(storage: .copy(value.withRawText { String(decoding: $0, as: UTF8.self) }))
    }

    /// How long it is, as it was written.
    package var size: Int {
        switch storage {
        case .view(let value): value.size
        case .copy(let text): text.utf8.count
        }
    }

    /// The number, when it is one of our own.
    package var number: Int64? {
        switch storage {
        case .view(let value): value.integer
        case .copy(let text): Int64(text)
        }
    }

    /// Appends the id as JSON.
    package func append(to sink: inout some ByteSink) {
        switch storage {
        case .view(let value):
            value.withRawText { sink.append($0) }
        case .copy(var text):
            text.withUTF8 { sink.append(UnsafeRawBufferPointer($0)) }
        }
    }
}
