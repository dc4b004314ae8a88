import JunctionSecret

/// One value on the tape: where its text lies, and where its next sibling begins.
struct JSONNode {
    /// The value's text, quotes and brackets included: `start..<end`.
    var start: UInt32
    var end: UInt32
    /// The index after this value and everything in it. While a container is open: its parent.
    var next: UInt32
    var kind: JSONKind
    /// A string without escapes, or a number without fraction and exponent.
    var isPlain: Bool
}

/// A JSON text of its own and the tape that describes it: values in the order written, names as strings.
///
/// It is written by a reader that holds the only reference and only read afterwards, like the storage of an
/// `Array`; that makes it sound to send. The text is wiped before its memory is used again or given back, because
/// a credential may have come with it.
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

    /// Takes a copy of `source` in place of what was here before.
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

    /// Makes space for more nodes and keeps those that are there.
    func growNodes() {
        let larger = UnsafeMutableBufferPointer<JSONNode>.allocate(capacity: nodes.count * 2)
        _ = larger.moveInitialize(fromContentsOf: nodes)
        nodes.deallocate()
        nodes = larger
    }

    /// The value at an index of the tape, to be looked at while the document is alive.
    func view(at index: Int) -> JSONView {
        JSONView(nodes: UnsafePointer(nodes.baseAddress!), text: UnsafeRawPointer(text.baseAddress!), index: index)
    }

    /// Wipes the text, of which nobody needs anything any more.
    func wipeText() {
        wipe(UnsafeMutableRawBufferPointer(rebasing: text[0..<textCount]))
        textCount = 0
    }
}
