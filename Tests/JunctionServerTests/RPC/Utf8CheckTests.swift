import Testing

@testable import JunctionServer

/// The check agrees with the standard library, at every split into pieces.
struct Utf8CheckTests {
    private static let texts: [[UInt8]] = [
        [], Array("plain".utf8), Array("größe €uro 𝄞 \u{10FFFF}\u{0}".utf8),
        [0x80], [0xBF, 0x41], [0xC0, 0x80], [0xC1, 0xBF], [0xC2], [0xC2, 0x41], [0xC2, 0x80],
        [0xE0, 0x9F, 0xBF], [0xE0, 0xA0, 0x80], [0xE1, 0x80], [0xED, 0x9F, 0xBF], [0xED, 0xA0, 0x80],
        [0xEF, 0xBF, 0xBF],
        [0xF0, 0x8F, 0xBF, 0xBF], [0xF0, 0x90, 0x80, 0x80], [0xF4, 0x8F, 0xBF, 0xBF], [0xF4, 0x90, 0x80, 0x80],
        [0xF5, 0x80, 0x80, 0x80], [0xFF], [0xF1, 0x80, 0x80, 0x80, 0x80], [0x41, 0xE2, 0x82, 0xAC, 0xE2, 0x82],
    ]

    @Test(arguments: texts)
    func `a text is recognised in pieces of any size`(bytes: [UInt8]) {
        let expected = String(validating: bytes, as: UTF8.self) != nil

        for size in 1...max(1, bytes.count) { #expect(isText(bytes, inPiecesOf: size) == expected) }
    }

    @Test func `every pair of bytes, and every start of a long character, is checked correctly`() {
        for first in UInt8.min ... .max {
            for second in UInt8.min ... .max {
                for bytes in [[first, second], [first, second, 0x80], [first, second, 0x80, 0x80]] {
                    if isText(bytes, inPiecesOf: 1) != (String(validating: bytes, as: UTF8.self) != nil) {
                        Issue.record("\(bytes)")
                    }
                }
            }
        }
    }

    private func isText(_ bytes: [UInt8], inPiecesOf size: Int) -> Bool {
        var check = Utf8Check()
        bytes.withUnsafeBytes { bytes in
            for start in stride(from: 0, to: bytes.count, by: size) {
                check.take(UnsafeRawBufferPointer(rebasing: bytes[start..<min(start + size, bytes.count)]))
            }
        }
        return check.isText
    }
}
