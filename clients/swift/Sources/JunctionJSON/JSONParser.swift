/// A parser for the grammar of RFC 8259. It does not use recursion, because the peer chooses the depth of the nesting.
struct JSONParser {
    let text: UnsafePointer<UInt8>
    let count: Int
    var position = 0

    // The reader keeps the document alive while the parser works.
    private unowned(unsafe) let document: JSONDocument
    private let maximumDepth: Int
    private var nodes: UnsafeMutableBufferPointer<JSONNode>
    private var nodeCount = 0
    private var depth = 0
    /// The innermost open container. The open containers are linked through `JSONNode.next`.
    private var open = Self.none

    private static let none = UInt32.max

    init(document: JSONDocument, maximumDepth: Int) {
        self.document = document
        self.maximumDepth = maximumDepth
        text = UnsafePointer(document.text.baseAddress!.assumingMemoryBound(to: UInt8.self))
        count = document.textCount
        nodes = document.nodes
    }

    /// Writes the tape for the document's text.
    mutating func parse() throws(JSONFault) {
        skipSpace()
        repeat {
            try parseValue()
        } while try parseSeparator()
        skipSpace()
        guard position == count else { throw .malformed(at: position) }
        document.nodeCount = nodeCount
    }

    /// Parses a scalar, an empty container, or the opening of a container up to its first value.
    private mutating func parseValue() throws(JSONFault) {
        while true {
            let start = position
            switch peek() {
            case UInt8(ascii: "\""):
                try parseString()
            case UInt8(ascii: "{"):
                try openContainer(.object)
                guard peek() != UInt8(ascii: "}") else { return closeContainer() }
                try parseName()
                continue
            case UInt8(ascii: "["):
                try openContainer(.array)
                guard peek() != UInt8(ascii: "]") else { return closeContainer() }
                continue
            case UInt8(ascii: "t"):
                try skip("true")
                append(.bool, from: start)
            case UInt8(ascii: "f"):
                try skip("false")
                append(.bool, from: start)
            case UInt8(ascii: "n"):
                try skip("null")
                append(.null, from: start)
            default:
                let isInteger = try skipNumber()
                append(.number, from: start, isPlain: isInteger)
            }
            return
        }
    }

    /// Parses the commas and closing brackets after a value. Returns whether another value must follow.
    private mutating func parseSeparator() throws(JSONFault) -> Bool {
        while open != Self.none {
            skipSpace()
            let isObject = nodes[Int(open)].kind == .object
            switch peek() {
            case UInt8(ascii: ","):
                position += 1
                skipSpace()
                if isObject { try parseName() }
                return true
            case UInt8(ascii: "}") where isObject, UInt8(ascii: "]") where !isObject:
                closeContainer()
            default:
                throw .malformed(at: position)
            }
        }
        return false
    }

    private mutating func parseName() throws(JSONFault) {
        guard peek() == UInt8(ascii: "\"") else { throw .malformed(at: position) }
        try parseString()
        skipSpace()
        guard peek() == UInt8(ascii: ":") else { throw .malformed(at: position) }
        position += 1
        skipSpace()
    }

    private mutating func parseString() throws(JSONFault) {
        let start = position
        let isPlain = try skipString()
        append(.string, from: start, isPlain: isPlain)
    }

    private mutating func openContainer(_ kind: JSONKind) throws(JSONFault) {
        guard depth < maximumDepth else { throw .tooDeep(at: position) }
        depth += 1
        let index = UInt32(nodeCount)
        append(kind, from: position)
        nodes[Int(index)].next = open
        open = index
        position += 1
        skipSpace()
    }

    private mutating func closeContainer() {
        position += 1
        depth -= 1
        let index = Int(open)
        open = nodes[index].next
        nodes[index].end = UInt32(position)
        nodes[index].next = UInt32(nodeCount)
    }

    private mutating func append(_ kind: JSONKind, from start: Int, isPlain: Bool = true) {
        if nodeCount == nodes.count {
            document.growNodes()
            nodes = document.nodes
        }
        let node = JSONNode(
            start: UInt32(start),
            end: UInt32(position),
            next: UInt32(nodeCount + 1),
            kind: kind,
            isPlain: isPlain
        )
        nodes.initializeElement(at: nodeCount, to: node)
        nodeCount += 1
    }

    /// The byte at the position; at the end zero, which is never valid.
    func peek() -> UInt8 {
        position < count ? text[position] : 0
    }

    private mutating func skipSpace() {
        while position < count {
            switch text[position] {
            case UInt8(ascii: " "), UInt8(ascii: "\n"), UInt8(ascii: "\r"), UInt8(ascii: "\t"): position += 1
            default: return
            }
        }
    }

    private mutating func skip(_ word: StaticString) throws(JSONFault) {
        for offset in 0..<word.utf8CodeUnitCount {
            guard peek() == word.utf8Start[offset] else { throw .malformed(at: position) }
            position += 1
        }
    }
}
