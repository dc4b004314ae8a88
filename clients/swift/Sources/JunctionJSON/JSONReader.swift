/// Reads JSON texts one after the other, and uses its memory again for the next one.
///
/// It validates all of RFC 8259, in one pass and without recursion. Once its memory has grown to the usual size
/// of a text, reading allocates nothing, provided that the values of the previous text have been let go; values
/// that are still held keep their own text and are never disturbed.
package struct JSONReader {
    /// Positions on the tape are 32 bits wide; far more than any line, record or body that we accept.
    package static let longestText = 1 << 30
    /// One long text must not hold its memory for the rest of the connection.
    private static let largestKept = 1 << 16

    private let maximumDepth: Int
    private var document: JSONDocument?

    /// Prepares a reader that refuses texts nested deeper than `maximumDepth`.
    package init(maximumDepth: Int = 128) {
        self.maximumDepth = maximumDepth
    }

    /// Reads one text, which the value keeps a copy of.
    package mutating func read(_ bytes: UnsafeRawBufferPointer) throws(JSONFault) -> JSONValue {
        guard bytes.count <= Self.longestText else { throw .tooLong }
        let document = vacantDocument(for: bytes.count)
        document.replaceText(with: bytes)
        try withExtendedLifetime(document) { () throws(JSONFault) in
            var parser = JSONParser(document: document, maximumDepth: maximumDepth)
            try parser.parse()
        }
        return JSONValue(document: document, index: 0)
    }

    /// Reads one text, which the value keeps a copy of.
    package mutating func read(_ bytes: [UInt8]) throws(JSONFault) -> JSONValue {
        try bytes.withUnsafeBufferPointer { (bytes) throws(JSONFault) in try read(UnsafeRawBufferPointer(bytes)) }
    }

    /// Wipes the last text at once, or as soon as the last of its values is let go; otherwise it waits for the next text.
    package mutating func forget() {
        if isKnownUniquelyReferenced(&document) { document?.wipeText() } else { document = nil }
    }

    private mutating func vacantDocument(for count: Int) -> JSONDocument {
        // Asked before anything else takes a reference: binding the document first would make it two.
        if isKnownUniquelyReferenced(&document), let document, document.text.count <= Self.largestKept {
            return document
        }
        let fresh = JSONDocument(textCapacity: count)
        document = count <= Self.largestKept ? fresh : nil
        return fresh
    }
}

extension JSONValue {
    /// Reads one text, for callers who read one now and then.
    package static func parse(_ bytes: [UInt8]) throws(JSONFault) -> JSONValue {
        var reader = JSONReader()
        return try reader.read(bytes)
    }

    /// Reads one text, for callers who read one now and then.
    package static func parse(_ bytes: UnsafeRawBufferPointer) throws(JSONFault) -> JSONValue {
        var reader = JSONReader()
        return try reader.read(bytes)
    }
}
