extension JSONValue {
    /// The values of an array, in order; empty for any other kind.
    package var elements: JSONElements { JSONElements(self) }

    /// The members of an object, in order and with duplicates; empty for any other kind.
    package var members: JSONMembers { JSONMembers(self) }

    /// The member of an object with this name. If there are duplicates, the last one counts.
    package subscript(_ name: StaticString) -> JSONValue? {
        withView { view in view[name].map(keep) }
    }

    /// Returns the member of an object with a name that is not a literal. If there are duplicates, the last one counts.
    package func member(named name: String) -> JSONValue? {
        var found: JSONValue?
        for (key, value) in members where key.string == name { found = value }
        return found
    }
}

package struct JSONElements: Sequence, IteratorProtocol, Sendable {
    private let document: JSONDocument
    private var position: TapeRange

    init(_ container: JSONValue) {
        document = container.document
        position = container.withView { $0.elements.position }
    }

    package var isEmpty: Bool { position.isEmpty }

    package mutating func next() -> JSONValue? {
        position.advance(over: 1, on: document.view(at: 0)).map { JSONValue(document: document, index: $0) }
    }
}

/// The members of a JSON object. A name is a string value: compare it with `stringEquals`, or read it with `string`.
package struct JSONMembers: Sequence, IteratorProtocol, Sendable {
    private let document: JSONDocument
    private var position: TapeRange

    init(_ container: JSONValue) {
        document = container.document
        position = container.withView { $0.members.position }
    }

    package var isEmpty: Bool { position.isEmpty }

    package mutating func next() -> (name: JSONValue, value: JSONValue)? {
        position.advance(over: 2, on: document.view(at: 0)).map { index in
            (JSONValue(document: document, index: index), JSONValue(document: document, index: index + 1))
        }
    }
}
