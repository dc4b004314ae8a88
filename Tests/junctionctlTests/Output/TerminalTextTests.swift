import Testing

@testable import junctionctl

/// Text from outside, escaped for a terminal.
struct TerminalTextTests {
    private func escaped(_ bytes: [UInt8]) -> String {
        bytes.withUnsafeBytes { String(decoding: TerminalText.escaped($0) ?? bytes, as: UTF8.self) }
    }

    private func escaped(_ text: String) -> String { escaped(Array(text.utf8)) }

    @Test(arguments: [
        ("\u{1B}[2J", #"\u001b[2J"#), ("\u{9B}31m", #"\u009b31m"#), ("a\u{7F}b\u{8}", #"a\u007fb\u0008"#),
        ("\u{0}\u{7}", #"\u0000\u0007"#), ("\u{202E}resu", #"\u202eresu"#), ("\u{2066}x\u{2069}", #"\u2066x\u2069"#),
        ("\u{61C}\u{200E}\u{200F}", #"\u061c\u200e\u200f"#), ("ad\u{200B}min", #"ad\u200bmin"#),
        ("\u{200C}\u{200D}\u{2060}\u{FEFF}\u{AD}\u{34F}", #"\u200c\u200d\u2060\ufeff\u00ad\u034f"#),
        ("\u{115F}\u{3164}\u{FE0F}\u{E0041}", #"\u115f\u3164\ufe0f\udb40\udc41"#),
        ("\u{2028}\u{2029}\u{FFF9}", #"\u2028\u2029\ufff9"#),
    ])
    func `control, direction and invisible characters are escaped`(text: String, shown: String) {
        #expect(escaped(text) == shown)
        #expect(text.onOneLine == shown)
    }

    @Test(arguments: ["", "user-1 {\"a\":1}", "Zoë 漢字 ß €", "🎉👍🏽", "e\u{301}", "مرحبا", "שלום", #"\u202e"#])
    func `other text is unchanged`(text: String) {
        #expect(escaped(text) == text)
        #expect(text.onOneLine == text)
    }

    @Test func `every character of an unsafe category is escaped`() {
        for value in (UInt32(0)...0xFFFF).filter({ !(0xD800...0xDFFF).contains($0) }) + Array(0xE0000...0xE0FFF) {
            let scalar = Unicode.Scalar(value)!
            let isSafe =
                switch scalar.properties.generalCategory {
                case .control, .format, .lineSeparator, .paragraphSeparator: false
                default: !scalar.properties.isDefaultIgnorableCodePoint
                }
            let line = String(scalar).onOneLine
            #expect(isSafe == (line == String(scalar)), "\(value)")
            #expect(isSafe || line.utf8.allSatisfy { (0x20..<0x7F).contains($0) }, "\(value)")
        }
    }

    @Test func `line breaks stay in several lines and become spaces in one line`() {
        #expect(escaped("a\tb\nc\r\nd\re\r") == "a\tb\nc\r\nd\\u000de\\u000d")
        #expect("a\tb\nc\r\nd".onOneLine == "a b c  d")
    }

    @Test func `bytes that are not UTF-8 are shown in hexadecimal`() {
        #expect(escaped([0x61, 0xFF, 0xC3, 0x28, 0x00, 0xE2, 0x80]) == #"a\xff\xc3(\u0000\xe2\x80"#)
        #expect(escaped([0x9B]) == #"\x9b"#)
    }

    @Test func `escaped JSON is the same document`() throws {
        let text = "{\"userId\":\"a\u{202E}b\u{9B}\u{E0041}\"}"

        #expect(escaped(text) == #"{"userId":"a\u202eb\u009b\udb40\udc41"}"#)
    }
}
