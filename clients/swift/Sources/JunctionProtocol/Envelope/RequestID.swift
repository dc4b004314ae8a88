package import JunctionJSON

/// The id that connects an answer with its request. The caller chooses it, and the answer repeats its original text.
package struct RequestID: Sendable {
    // Not private: a copy in another module would go through the type's metadata.
    enum Storage {
        case view(JSONValue)
        case copy(String)
    }

    private let storage: Storage

    /// The id for an error about a message whose id could not be read.
    package static let null = RequestID(storage: .copy("null"))

    /// Makes an id for a request of this side.
    package init(_ number: Int64) {
        storage = .copy(String(number))
    }

    /// Makes the id of a message; `nil` if the value is not a string, a number or null.
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
    /// The message may contain a credential, and the reader cannot reuse its memory before the message is released. An
    /// id of up to 15 bytes needs no separate memory.
    package var detached: RequestID {
        guard case .view(let value) = storage else { return self }
        return RequestID(storage: .copy(String(decoding: value.rawText, as: UTF8.self)))
    }

    /// The length of the id's original text, in bytes.
    package var size: Int {
        switch storage {
        case .view(let value): value.size
        case .copy(let text): text.utf8.count
        }
    }

    /// The number, if the id belongs to a request of this side.
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
