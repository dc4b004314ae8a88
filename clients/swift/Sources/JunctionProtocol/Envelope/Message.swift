package import JunctionJSON

/// One JSON-RPC message, by its kind.
package enum Message: Sendable {
    /// A call that must be answered.
    case request(Call, id: RequestID)
    /// A call that must not be answered, not even with an error.
    case notification(Call)
    /// An answer to a request of this side.
    indirect case answer(Response)
    /// An invalid message, and the error that answers it.
    indirect case invalid(WireError, id: RequestID)
}

/// The method and the parameters of a call.
package struct Call: Sendable {
    /// The name of the method. `Method(call.name)` returns the known method.
    package let name: JSONValue
    /// A non-empty object or array. Absent parameters, `null`, `{}` and `[]` are all `nil`.
    package let params: JSONValue?

    /// The size of the parameters in bytes, which a pending call keeps in memory.
    package var size: Int { params?.size ?? 0 }
}

/// The peer's response to a request of this side (JSON-RPC 2.0, section 5).
package struct Response: Sendable {
    /// The id. `id.number` is that of a pending request, if there is one.
    package let id: RequestID
    package let outcome: Result<JSONValue, WireError>
}

/// The content of one line.
package enum Incoming: Sendable {
    case single(Message)
    /// Several messages, whose answers belong in one array.
    case batch(Batch)
}

/// The messages of a batch, which are parsed one by one.
package struct Batch: Sequence, IteratorProtocol, Sendable {
    private var elements: JSONElements

    init(_ elements: JSONElements) {
        self.elements = elements
    }

    package mutating func next() -> Message? {
        elements.next().map(Message.init)
    }
}
