package import JunctionSecret
import JunctionText

/// Writes one JSON text, in the order of the calls, and adds the commas.
///
/// If a secret was written, the writer leaves no copy of it in memory, neither when it grows nor when it is released.
package struct JSONWriter: ~Copyable {
    private var bytes: [UInt8] = []
    private var needsComma = false
    private var holdsSecret = false

    /// Makes a writer with an empty text. A writer with enough `capacity` never reallocates.
    package init(capacity: Int = 256) {
        bytes.reserveCapacity(capacity)
    }

    deinit {
        guard holdsSecret else { return }
        // In `deinit`, a stored array of a struct cannot be changed. The bytes are wiped in place instead.
        bytes.withUnsafeBytes { wipe(UnsafeMutableRawBufferPointer(mutating: $0)) }
    }

    /// The number of written bytes.
    package var count: Int { bytes.count }

    /// Returns the text and starts an empty one. The code that takes a text with a secret has to wipe it.
    package mutating func take() -> [UInt8] {
        var taken: [UInt8] = []
        swap(&taken, &bytes)
        (needsComma, holdsSecret) = (false, false)
        return taken
    }

    /// Passes the text to `body`, which must not keep it.
    package borrowing func withUnsafeBytes<Result, Failure: Error>(
        _ body: (UnsafeRawBufferPointer) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        try bytes.withUnsafeBufferPointer { (bytes) throws(Failure) in try body(UnsafeRawBufferPointer(bytes)) }
    }

    package mutating func beginObject() { open(UInt8(ascii: "{")) }

    /// Closes the object that was opened last.
    package mutating func endObject() { close(UInt8(ascii: "}")) }

    package mutating func beginArray() { open(UInt8(ascii: "[")) }

    /// Closes the array that was opened last.
    package mutating func endArray() { close(UInt8(ascii: "]")) }

    /// Writes the name of the next value.
    package mutating func key(_ name: StaticString) {
        separate()
        appendQuoted(UnsafeRawBufferPointer(start: name.utf8Start, count: name.utf8CodeUnitCount))
        append(UInt8(ascii: ":"))
    }

    /// Writes the name of the next value.
    package mutating func key(_ name: some StringProtocol) {
        separate()
        appendQuoted(name)
        append(UInt8(ascii: ":"))
    }

    package mutating func string(_ text: some StringProtocol) {
        separate()
        appendQuoted(text)
        needsComma = true
    }

    /// Writes a secret as a string. The secret must be UTF-8.
    package mutating func string(secret: SharedSecret) {
        separate()
        holdsSecret = true
        secret.withUnsafeBytes { appendQuoted($0) }
        needsComma = true
    }

    package mutating func integer(_ value: some BinaryInteger) {
        separate()
        append(contentsOf: String(value))
        needsComma = true
    }

    /// Writes a number in the shortest form that reads back as the same value. Whole numbers have no `.0`.
    ///
    /// JSON cannot express infinity and NaN, so both are written as `null`.
    package mutating func double(_ value: Double) {
        guard value.isFinite else { return null() }
        separate()
        if let whole = Int64(exactly: value), whole.magnitude <= 1 << 53 {
            append(contentsOf: String(whole))
        } else {
            append(contentsOf: value.description)
        }
        needsComma = true
    }

    package mutating func bool(_ value: Bool) {
        separate()
        append(contentsOf: value ? "true" : "false")
        needsComma = true
    }

    package mutating func null() {
        separate()
        append(contentsOf: "null")
        needsComma = true
    }

    /// Writes a value that is already JSON.
    package mutating func raw(_ json: UnsafeRawBufferPointer) {
        separate()
        append(json)
        needsComma = true
    }

    /// Writes a value that is already JSON.
    package mutating func raw(_ json: [UInt8]) {
        json.withUnsafeBytes { raw($0) }
    }

    /// Writes a value of another text in its original form.
    package mutating func value(_ value: JSONValue) {
        value.withRawText { raw($0) }
    }

    private mutating func open(_ bracket: UInt8) {
        separate()
        append(bracket)
    }

    private mutating func close(_ bracket: UInt8) {
        append(bracket)
        needsComma = true
    }

    private mutating func separate() {
        if needsComma { append(UInt8(ascii: ",")) }
        needsComma = false
    }
}

// Escaping and memory.
extension JSONWriter {
    private mutating func appendQuoted(_ text: some StringProtocol) {
        var text = String(text)
        text.withUTF8 { appendQuoted(UnsafeRawBufferPointer($0)) }
    }

    private mutating func appendQuoted(_ text: UnsafeRawBufferPointer) {
        makeRoom(for: text.count + 2)
        append(UInt8(ascii: "\""))
        partOfString(text)
        append(UInt8(ascii: "\""))
    }

    /// Writes a part of a string, escaped and without quotation marks. So a long string can be written in pieces; a
    /// piece may end within a character.
    package mutating func partOfString(_ text: UnsafeRawBufferPointer) {
        var start = 0
        for (index, byte) in text.enumerated()
        where byte < 0x20 || byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "\\") {
            append(UnsafeRawBufferPointer(rebasing: text[start..<index]))
            appendEscape(of: byte)
            start = index + 1
        }
        append(UnsafeRawBufferPointer(rebasing: text[start...]))
    }

    private mutating func appendEscape(of byte: UInt8) {
        switch byte {
        case 0x08: append(contentsOf: "\\b")
        case 0x09: append(contentsOf: "\\t")
        case 0x0A: append(contentsOf: "\\n")
        case 0x0C: append(contentsOf: "\\f")
        case 0x0D: append(contentsOf: "\\r")
        case UInt8(ascii: "\""): append(contentsOf: "\\\"")
        case UInt8(ascii: "\\"): append(contentsOf: "\\\\")
        default:
            append(contentsOf: "\\u00")
            append(contentsOf: Hexadecimal.text([byte]))
        }
    }

    private mutating func append(_ byte: UInt8) {
        makeRoom(for: 1)
        bytes.append(byte)
    }

    private mutating func append(_ run: UnsafeRawBufferPointer) {
        makeRoom(for: run.count)
        bytes.append(contentsOf: run)
    }

    private mutating func append(contentsOf text: String) {
        makeRoom(for: text.utf8.count)
        bytes.append(contentsOf: text.utf8)
    }

    /// Grows the array by copying, and wipes old storage with a secret. An array that grows itself would free its old
    /// storage with the secret in it.
    private mutating func makeRoom(for more: Int) {
        guard bytes.count + more > bytes.capacity else { return }
        var larger: [UInt8] = []
        larger.reserveCapacity(max(bytes.capacity * 2, bytes.count + more))
        larger.append(contentsOf: bytes)
        if holdsSecret { bytes.withUnsafeMutableBytes { wipe($0) } }
        bytes = larger
    }
}
