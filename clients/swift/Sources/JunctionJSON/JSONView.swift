import Glibc
package import JunctionSecret
import JunctionText

/// A value that is valid only during a closure. A copy changes no reference count, and a view must not be kept.
///
/// Frequent code paths use views; `JSONValue` provides the same for other code.
package struct JSONView {
    let nodes: UnsafePointer<JSONNode>
    let text: UnsafeRawPointer
    let index: Int

    var node: JSONNode { nodes[index] }

    package var kind: JSONKind { nodes[index].kind }

    package var isNull: Bool { kind == .null }

    /// The value of a boolean.
    package var bool: Bool? {
        kind == .bool ? rawText.first == UInt8(ascii: "t") : nil
    }

    /// The unescaped text of a string.
    package var string: String? {
        guard let text = escapedText else { return nil }
        guard !node.isPlain else { return String(decoding: text, as: UTF8.self) }
        return String(unsafeUninitializedCapacity: text.count) { room in
            unescape(text, into: UnsafeMutableRawBufferPointer(room))
        }
    }

    /// The unescaped text of a string, written directly to memory that is wiped, without a `String`.
    package var secret: SharedSecret? {
        guard let text = escapedText else { return nil }
        return SharedSecret(Secret(capacity: text.count) { room in unescape(text, into: room) })
    }

    /// Returns whether the value is a string with exactly this text.
    package func stringEquals(_ expected: StaticString) -> Bool {
        let node = node
        guard node.kind == .string else { return false }
        guard node.isPlain else { return unescapedTextEquals(expected) }
        let (start, count) = (text + Int(node.start) + 1, Int(node.end - node.start) - 2)
        return count == expected.utf8CodeUnitCount && memcmp(start, expected.utf8Start, count) == 0
    }

    /// The same for a string with escapes. Such a string is rare, so its text may be copied.
    private func unescapedTextEquals(_ expected: StaticString) -> Bool {
        secret?.withUnsafeBytes { text in
            text.count == expected.utf8CodeUnitCount && memcmp(text.baseAddress!, expected.utf8Start, text.count) == 0
        } ?? false
    }

    /// The value's original text, with quotes and brackets.
    package var rawText: UnsafeRawBufferPointer {
        let node = node
        return UnsafeRawBufferPointer(start: text + Int(node.start), count: Int(node.end - node.start))
    }

    /// The text between the quotes of a string, still escaped.
    private var escapedText: UnsafeRawBufferPointer? {
        guard kind == .string else { return nil }
        return UnsafeRawBufferPointer(rebasing: rawText[1..<rawText.count - 1])
    }
}

/// Writes the unescaped text of validated, escaped bytes, and returns its length. It is never longer than the source.
private func unescape(_ source: UnsafeRawBufferPointer, into room: UnsafeMutableRawBufferPointer) -> Int {
    var read = 0
    var written = 0
    func hexUnit(at start: Int) -> UInt32 {
        (0..<4).reduce(0) { unit, offset in unit << 4 | UInt32(Hexadecimal.value(of: source[start + offset]) ?? 0) }
    }
    while read < source.count {
        guard source[read] == UInt8(ascii: "\\") else {
            room[written] = source[read]
            (read, written) = (read + 1, written + 1)
            continue
        }
        guard source[read + 1] == UInt8(ascii: "u") else {
            room[written] = plainByte(ofEscape: source[read + 1])
            (read, written) = (read + 2, written + 1)
            continue
        }
        var scalar = hexUnit(at: read + 2)
        read += 6
        if scalar & 0xFC00 == 0xD800 {
            scalar = 0x10000 + (scalar & 0x3FF) << 10 + hexUnit(at: read + 2) & 0x3FF
            read += 6
        }
        for byte in UTF8.encode(Unicode.Scalar(scalar) ?? "\u{FFFD}") ?? UTF8.encodedReplacementCharacter {
            room[written] = byte
            written += 1
        }
    }
    return written
}

private func plainByte(ofEscape letter: UInt8) -> UInt8 {
    switch letter {
    case UInt8(ascii: "b"): 0x08
    case UInt8(ascii: "f"): 0x0C
    case UInt8(ascii: "n"): 0x0A
    case UInt8(ascii: "r"): 0x0D
    case UInt8(ascii: "t"): 0x09
    default: letter
    }
}
