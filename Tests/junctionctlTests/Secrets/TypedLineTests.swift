import Testing

@testable import junctionctl

/// Tests how a typed secret is edited.
struct TypedLineTests {
    private let keys = TypedLine.Keys(erase: [0x7F, 0x08], kill: [0x15], end: [0x04])

    /// Returns the edited line, the number of bytes that were read, and the memory of the line.
    private func typed(_ text: String, capacity: Int = 100) -> (line: [UInt8], taken: Int, memory: [UInt8]) {
        var memory = [UInt8](repeating: 0, count: capacity)
        return memory.withUnsafeMutableBytes { buffer in
            var line = TypedLine(in: buffer, keys: keys)
            var taken = 0
            for byte in text.utf8 {
                taken += 1
                guard line.take(byte) else { break }
            }
            return (Array(buffer.prefix(line.count)), taken, Array(buffer))
        }
    }

    @Test(arguments: [
        ("abc\n", "abc"), ("abc\r", "abc"), ("abd\u{7F}c\n", "abc"), ("ab\u{8}\u{8}\u{8}c\n", "c"),
        ("wrong\u{15}right\n", "right"), ("\u{7F}\u{15}a\n", "a"), ("aé\u{7F}b\n", "ab"), ("a😀\u{7F}\u{7F}b\n", "b"),
        ("abc\u{4}def", "abc"), ("\u{4}", ""), ("\n", ""),
    ])
    func `a line is edited and ends with a line break or the end of input`(text: String, line: String) {
        #expect(typed(text).line == Array(line.utf8))
    }

    @Test func `bytes after the end of the line are not read`() {
        #expect(typed("abc\ndef").taken == 4)
    }

    @Test func `deleted bytes are wiped`() {
        #expect(typed("secret\u{15}x\n").memory.prefix(7) == [UInt8(ascii: "x"), 0, 0, 0, 0, 0, 0])
        #expect(typed("ab\u{7F}\n").memory.prefix(3) == [UInt8(ascii: "a"), 0, 0])
    }

    @Test func `a line longer than the buffer is read to its end and can be deleted`() {
        #expect(typed("abcdefg\n", capacity: 4).line == Array("abcd".utf8))
        #expect(typed("abcdefg\n", capacity: 4).taken == 8)
        #expect(typed("abcdefg\u{15}xy\n", capacity: 4).line == Array("xy".utf8))
        #expect(typed("abcde\u{7F}\u{7F}y\n", capacity: 4).line == Array("abcy".utf8))
    }
}
