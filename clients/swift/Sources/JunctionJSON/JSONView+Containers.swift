extension JSONView {
    /// The values of an array, in order; empty for any other kind.
    package var elements: JSONElementViews { JSONElementViews(self) }

    /// The members of an object, in order and with duplicates; empty for any other kind.
    package var members: JSONMemberViews { JSONMemberViews(self) }

    /// The member of an object with this name. If there are duplicates, the last one counts.
    package subscript(_ name: StaticString) -> JSONView? {
        var found: JSONView?
        for member in members where member.name.stringEquals(name) { found = member.value }
        return found
    }

    func sibling(at index: Int) -> JSONView {
        JSONView(nodes: nodes, text: text, index: index)
    }
}

/// The rest of a container: the nodes from the next value to the end.
struct TapeRange {
    private var index: Int
    private let end: Int

    init(insideOf container: JSONView, if kind: JSONKind) {
        index = container.index + 1
        end = container.kind == kind ? Int(container.node.next) : index
    }

    var isEmpty: Bool { index == end }

    /// Skips one value, or one name (always one node) and its value. Returns the index of the first skipped node.
    mutating func advance(over width: Int, on tape: JSONView) -> Int? {
        guard index < end else { return nil }
        defer { index = Int(tape.nodes[index + width - 1].next) }
        return index
    }
}

package struct JSONElementViews: Sequence, IteratorProtocol {
    private let container: JSONView
    private(set) var position: TapeRange

    init(_ container: JSONView) {
        self.container = container
        position = TapeRange(insideOf: container, if: .array)
    }

    package var isEmpty: Bool { position.isEmpty }

    package mutating func next() -> JSONView? {
        position.advance(over: 1, on: container).map(container.sibling)
    }
}

package struct JSONMemberViews: Sequence, IteratorProtocol {
    private let container: JSONView
    private(set) var position: TapeRange

    init(_ container: JSONView) {
        self.container = container
        position = TapeRange(insideOf: container, if: .object)
    }

    package var isEmpty: Bool { position.isEmpty }

    package mutating func next() -> (name: JSONView, value: JSONView)? {
        position.advance(over: 2, on: container).map { (container.sibling(at: $0), container.sibling(at: $0 + 1)) }
    }
}
