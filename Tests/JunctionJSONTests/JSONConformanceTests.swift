import JunctionJSON
import Testing

/// The grammar of RFC 8259, case by case.
struct JSONConformanceTests {
    @Test(
        arguments: [
            "null", "true", "false", "0", "-0", "1", "-1", "10", "1.5", "0.0", "-0.1", "1e5", "1E+5", "1e-5", "0e0",
            "123456789012345678901234567890", "1e400", "1.7976931348623157e308", #""""#, #""a""#,
            #""\"\\\/\b\f\n\r\t""#,
            #""\u0000""#, #""\u00e9""#, #""\uD834\uDD1E""#, #""\ud834\udd1e""#, #""é𝄞漢""#, "\"\u{7F}\"", "\"\u{2028}\"",
            "[]", "{}", "[ ]", "{ }", "[1]", "[1,2]", "[[],{}]", #"{"a":1}"#, #"{"a":1,"a":2}"#, #"{"":0}"#,
            " \t\r\n[ 1 , 2 ]\n", #"{ "a" : { "b" : [ null ] } }"#, "\"\u{10FFFF}\"", #""a\/b""#, #"{"\u0061":1}"#,
        ]
    )
    func `a well-formed text is accepted`(_ text: String) throws {
        #expect(throws: Never.self) { try JSONValue.parse(Array(text.utf8)) }
    }

    @Test(
        arguments: [
            "", " ", "nul", "nulll", "True", "tru", "NaN", "Infinity", "-Infinity", "-", "+1", "01", "-01", "1.", ".5",
            "1.e5", "1e", "1e+", "0x10", "1_000", "1 2", "--1", "- 1", "1a", "[", "]", "{", "}", "[1", "[1,", "[1,]",
            "[,1]",
            "[1 2]", "[1,,2]", "[1}", "{]", #"{"a"}"#, #"{"a":}"#, #"{"a":1,}"#, #"{,"a":1}"#, #"{a:1}"#, "{1:1}",
            #"{"a" 1}"#, #"{"a":1 "b":2}"#, #"{"a":1]"#, "{'a':1}", #"{"a":1}}"#, "[] []", "[]x", #"""#, #""a"#, #""\"#,
            #""\x""#, #""\u""#, #""\u12""#, #""\u123g""#, #""\uD834""#, #""\uD834x""#, #""\uD834\n""#,
            #""\uD834\u0041""#,
            #""\uDD1E""#, #""\uDD1E\uD834""#, "\"\t\"", "\"\n\"", "\"\0\"", "\u{FEFF}[]", "[]\0", "\0", "/* */ 1",
            "1 // one",
            "[1]\u{0B}", "\u{A0}1", "é", "'a'", "undefined", "[\"a\": 1]", "{\"a\":1:2}", "{null:1}", "[[]", "[]]",
        ]
    )
    func `a malformed text is refused`(_ text: String) {
        let fault = #expect(throws: JSONFault.self) { try JSONValue.parse(Array(text.utf8)) }

        guard case .malformed(let offset) = fault else {
            Issue.record("\(text) is \(String(describing: fault))")
            return
        }
        #expect((0...text.utf8.count).contains(offset))
    }

    @Test(
        arguments: [
            [0x80], [0xBF], [0xC0, 0x80], [0xC1, 0xBF], [0xC3], [0xC3, 0x28], [0xE0, 0x80, 0x80], [0xE0, 0xA0],
            [0xE2, 0x28, 0xA1], [0xED, 0xA0, 0x80], [0xED, 0xBF, 0xBF], [0xF0, 0x80, 0x80, 0x80], [0xF0, 0x9F, 0x98],
            [0xF0, 0x9F, 0x28, 0x80], [0xF4, 0x90, 0x80, 0x80], [0xF5, 0x80, 0x80, 0x80], [0xFE], [0xFF],
        ] as [[UInt8]]
    )
    func `a string that is not UTF-8 is refused`(_ bytes: [UInt8]) {
        let quote = [UInt8(ascii: "\"")]

        #expect(throws: JSONFault.notUTF8(at: 1)) { try JSONValue.parse(quote + bytes + quote) }
        #expect(throws: JSONFault.notUTF8(at: 1)) { try JSONValue.parse(quote + bytes) }
    }

    @Test func `the fault has the offset of the first invalid byte`() {
        #expect(throws: JSONFault.malformed(at: 6)) { try JSONValue.parse(Array(#"{"a":1"#.utf8)) }
        #expect(throws: JSONFault.malformed(at: 3)) { try JSONValue.parse(Array("[1,]".utf8)) }
        #expect(throws: JSONFault.malformed(at: 2)) { try JSONValue.parse(Array("trUe".utf8)) }
        #expect(throws: JSONFault.malformed(at: 3)) { try JSONValue.parse(Array("[] {}".utf8)) }
        #expect(throws: JSONFault.notUTF8(at: 2)) { try JSONValue.parse([0x22, 0x61, 0xFF, 0x22]) }
    }

    @Test func `nesting up to the limit is accepted, and one level more is refused`() throws {
        func nested(_ depth: Int) -> [UInt8] {
            Array(repeating: UInt8(ascii: "["), count: depth) + Array(repeating: UInt8(ascii: "]"), count: depth)
        }

        #expect(try JSONValue.parse(nested(128)).kind == .array)
        #expect(throws: JSONFault.tooDeep(at: 128)) { try JSONValue.parse(nested(129)) }
        #expect(throws: JSONFault.tooDeep(at: 128)) { try JSONValue.parse(Array(repeating: 0x5B, count: 1 << 20)) }
    }

    @Test func `the depth counts only open containers`() throws {
        let siblings = "[" + Array(repeating: "[{}]", count: 1000).joined(separator: ",") + "]"

        let reader = JSONReader(maximumDepth: 3)
        let value = try reader.read(Array(siblings.utf8))

        #expect(value.elements.reduce(0) { count, _ in count + 1 } == 1000)
    }
}
