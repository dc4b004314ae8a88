/// Reads JSON texts one after the other, and reuses its memory.
///
/// The reader validates all of RFC 8259, in one pass and without recursion. After its memory has grown to the usual
/// size of a text, reading allocates nothing, if the values of the previous text have been released. Values that still
/// exist keep their own text, which does not change.
package final class JSONReader {
    /// The longest text, in bytes. Positions on the tape have 32 bits, and every accepted line, record or body is far
    /// shorter.
    package static let longestText = 1 << 30
    /// The largest memory that is kept for the next text, so that one long text does not occupy memory for the rest of
    /// the connection.
    private static let largestKept = 1 << 16

    private let maximumDepth: Int
    private var document: JSONDocument?

    /// Makes a reader that refuses texts nested more deeply than `maximumDepth`.
    package init(maximumDepth: Int = 128) {
        self.maximumDepth = maximumDepth
    }

    /// Reads one text. The value keeps a copy of it.
    package func read(_ bytes: UnsafeRawBufferPointer) throws(JSONFault) -> JSONValue {
        guard bytes.count <= Self.longestText else { throw .tooLong }
        let document = vacantDocument(for: bytes.count)
        document.replaceText(with: bytes)
        try withExtendedLifetime(document) { () throws(JSONFault) in
            var parser = JSONParser(document: document, maximumDepth: maximumDepth)
            try parser.parse()
        }
        return JSONValue(document: document, index: 0)
    }

    /// Reads one text. The value keeps a copy of it.
    package func read(_ bytes: [UInt8]) throws(JSONFault) -> JSONValue {
        try bytes.withUnsafeBufferPointer { (bytes) throws(JSONFault) in try read(UnsafeRawBufferPointer(bytes)) }
    }

    /// Wipes the last text at once, or when the last of its values is released. Without this call, it is wiped when the
    /// next text is read.
    package func forget() {
        if isKnownUniquelyReferenced(&document) { document?.wipeText() } else { document = nil }
    }

    private func vacantDocument(for count: Int) -> JSONDocument {
        // This check must come first: binding the document would add a second reference.
        if isKnownUniquelyReferenced(&document), let document, document.text.count <= Self.largestKept {
            return document
        }
        let fresh = JSONDocument(textCapacity: count)
        document = count <= Self.largestKept ? fresh : nil
        return fresh
    }
}

extension JSONValue {
    /// Reads one text, for code that reads texts only occasionally.
    package static func parse(_ bytes: [UInt8]) throws(JSONFault) -> JSONValue {
        try JSONReader().read(bytes)
    }

    /// Reads one text, for code that reads texts only occasionally.
    package static func parse(_ bytes: UnsafeRawBufferPointer) throws(JSONFault) -> JSONValue {
        try JSONReader().read(bytes)
    }
}
