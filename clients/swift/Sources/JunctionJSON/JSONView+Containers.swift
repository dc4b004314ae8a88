extension JSONView {
    /// The values of an array, in order; nothing for any other kind.
    package var elements: JSONElementViews { JSONElementViews(self) }

    /// The members of an object, in the order written and with duplicates; nothing for any other kind.
    package var members: JSONMemberViews { JSONMemberViews(self) }

    /// The member of an object with this name. When a name is given twice the last one counts.
    package subscript(_ name: StaticString) -> JSONView? {
        var found: JSONView?
        for member in members where member.name.stringEquals(name) { found = member.value }
        return found
    }

    func sibling(at index: Int) -> JSONView {
        JSONView(nodes: nodes, text: text, index: index)
    }
}

/// What is left of a container: the nodes from the next value to the end.
struct TapeRange {
    private var index: Int
    private let end: Int

    init(insideOf container: JSONView, if kind: JSONKind) {
        index = container.index + 1
        end = container.kind == kind ? Int(container.node.next) : index
    }

    var isEmpty: Bool { index == end }

    /// Passes over one value, or over a name (always one node) and its value. The index that was passed.
    mutating func advance(over width: Int, on tape: JSONView) -> Int? {
        guard index < end else { return nil }
        defer { index = Int(tape.nodes[index + width - 1].next) }
        return index
    }
}

/// The values of a JSON array, lent.
package struct JSONElementViews: Sequence, IteratorProtocol {
    private let container: JSONView
    private(set) var position: TapeRange

    init(_ container: JSONView) {
        self.container = container
        position = TapeRange(insideOf: container, if: .array)
    }

    /// Whether none is left.
    package var isEmpty: Bool { position.isEmpty }

    package mutating func next() -> JSONView? {
        position.advance(over: 1, on: container).map(container.sibling)
    }
}

/// The members of a JSON object, lent.
package struct JSONMemberViews: Sequence, IteratorProtocol {
    private let container: JSONView
    private(set) var position: TapeRange

    init(_ container: JSONView) {
        self.container = container
        position = TapeRange(insideOf: container, if: .object)
    }

    /// Whether none is left.
    package var isEmpty: Bool { position.isEmpty }

    package mutating func next() -> (name: JSONView, value: JSONView)? {
        position.advance(over: 2, on: container).map { (container.sibling(at: $0), container.sibling(at: $0 + 1)) }
    }
}
