import JunctionSecret

/// One value on the tape: the position of its text, and the index of its next sibling.
struct JSONNode {
    /// The value's text, with quotes and brackets: `start..<end`.
    var start: UInt32
    var end: UInt32
    /// The index after this value and all values in it. While a container is open: the index of its parent.
    var next: UInt32
    var kind: JSONKind
    /// Whether the value is a string without escapes, or a number without fraction and exponent.
    var isPlain: Bool
}

/// A JSON text, and the tape that describes it: all values in their order, with member names as strings.
///
/// A reader that holds the only reference writes the document. After that, it is only read, like the storage of an
/// `Array`, so it is safe to send. The text is wiped before its memory is reused or freed, because it may contain a
/// credential.
final class JSONDocument: @unchecked Sendable {
    private(set) var text: UnsafeMutableRawBufferPointer
    private(set) var nodes: UnsafeMutableBufferPointer<JSONNode>
    private(set) var textCount = 0
    var nodeCount = 0

    init(textCapacity: Int) {
        text = .allocate(byteCount: max(textCapacity, 256), alignment: 16)
        nodes = .allocate(capacity: 32)
    }

    deinit {
        wipeText()
        text.deallocate()
        nodes.deallocate()
    }

    /// Replaces the text with a copy of `source`.
    func replaceText(with source: UnsafeRawBufferPointer) {
        wipeText()
        if source.count > text.count {
            text.deallocate()
            text = .allocate(byteCount: source.count, alignment: 16)
        }
        text.copyMemory(from: source)
        textCount = source.count
        nodeCount = 0
    }

    /// Doubles the space for nodes, and keeps the present ones.
    func growNodes() {
        let larger = UnsafeMutableBufferPointer<JSONNode>.allocate(capacity: nodes.count * 2)
        _ = larger.moveInitialize(fromContentsOf: nodes)
        nodes.deallocate()
        nodes = larger
    }

    /// Returns the value at an index of the tape. The view is valid while the document is alive.
    func view(at index: Int) -> JSONView {
        JSONView(nodes: UnsafePointer(nodes.baseAddress!), text: UnsafeRawPointer(text.baseAddress!), index: index)
    }

    /// Wipes the text, which is no longer needed.
    func wipeText() {
        wipe(UnsafeMutableRawBufferPointer(rebasing: text[0..<textCount]))
        textCount = 0
    }
}
