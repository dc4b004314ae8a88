package import JunctionJSON

/// One JSON-RPC message, sorted by what it wants.
package enum Message: Sendable {
    /// A call that has to be answered.
    case request(Call, id: RequestID)
    /// A call that must not be answered, not even with an error.
    case notification(Call)
    /// An answer to a request of our own.
    indirect case answer(Answer)
    /// No message; this error is the answer.
    indirect case invalid(WireError, id: RequestID)
}

/// What is called, and with what.
package struct Call: Sendable {
    /// The name of the method: `Method(call.name)` tells which of ours it is.
    package let name: JSONValue
    /// An object or an array that is not empty; absent, `null`, `{}` and `[]` are the same.
    package let params: JSONValue?

    /// The bytes of what it is called with: whoever answers later has to keep that, or what was made of it.
    package var size: Int { params?.size ?? 0 }
}

/// What the other side answered to a request of ours.
package struct Answer: Sendable {
    /// Ours, if it is `id.number` of a request that waits.
    package let id: RequestID
    package let outcome: Result<JSONValue, WireError>
}

/// What one line held.
package enum Incoming: Sendable {
    case single(Message)
    /// Several messages whose answers belong into one array.
    case batch(Batch)
}

/// The messages of a batch, sorted one by one as they are asked for.
package struct Batch: Sequence, IteratorProtocol, Sendable {
    private var elements: JSONElements

    init(_ elements: JSONElements) {
        self.elements = elements
    }

    package mutating func next() -> Message? {
        elements.next().map(Message.init)
    }
}
