import JunctionJSON
import JunctionSecret
import Testing

struct JSONValueTests {
    private func value(_ text: String) throws -> JSONValue { try JSONValue.parse(Array(text.utf8)) }

    @Test func `a value has a kind`() throws {
        let kinds = try value(#"[null, true, -1.5, "", [], {}]"#).elements.map(\.kind)

        #expect(kinds == [.null, .bool, .number, .string, .array, .object])
    }

    @Test func `an accessor for another kind returns nil`() throws {
        let number = try value("1")
        let text = try value(#""1""#)

        #expect(number.string == nil)
        #expect(number.secret == nil)
        #expect(number.bool == nil)
        #expect(number["a"] == nil)
        #expect(number.elements.isEmpty)
        #expect(number.members.isEmpty)
        #expect(text.integer == nil)
        #expect(text.unsigned == nil)
        #expect(text.double == nil)
        #expect(try value(#"{"a":1}"#).elements.isEmpty)
        #expect(try value(#"["a",1]"#).members.isEmpty)
        #expect(try value(#"["a",1]"#)["a"] == nil)
    }

    @Test func `members keep their order`() throws {
        let names = try value(#"{"b":1,"a":{"x":[1,2]},"b":3}"#).members.map(\.name.string)

        #expect(names == ["b", "a", "b"])
    }

    @Test func `the last of two members with the same name counts`() throws {
        let object = try value(#"{"a":1,"b":{"a":9},"a":[2]}"#)

        #expect(object["a"]?.rawText == Array("[2]".utf8))
        #expect(object.member(named: "a")?.kind == .array)
    }

    @Test func `a name with escapes equals the name without them`() throws {
        let object = try value(#"{"\u006dethod":"token\u002eget"}"#)

        #expect(object["method"]?.stringEquals("token.get") == true)
        #expect(object["method"]?.stringEquals("token.gets") == false)
        #expect(object["method"]?.stringEquals("token\\u002eget") == false)
    }

    @Test(
        arguments: [
            (#""plain""#, "plain"), (#""\"\\\/\b\f\n\r\t""#, "\"\\/\u{8}\u{C}\n\r\t"), (#""\u00E9\u6f22""#, "é漢"),
            (#""\ud834\udd1e!""#, "𝄞!"), (#""\u0000""#, "\0"), (#""""#, ""), (#""a\u0062c""#, "abc"),
            (#""\uFFFF""#, "\u{FFFF}"),
        ]
    )
    func `a string is unescaped`(_ text: String, _ expected: String) throws {
        let value = try value(text)

        #expect(value.string == expected)
        let secret = try #require(value.secret)
        #expect(secret.withUnsafeBytes { Array($0) } == Array(expected.utf8))
    }

    @Test(
        arguments: [
            ("0", 0), ("-0", 0), ("60", 60), ("60.0", 60), ("6e1", 60), ("600E-1", 60), ("-7", -7),
            ("9223372036854775807", Int64.max), ("-9223372036854775808", Int64.min), ("9223372036854775808", nil),
            ("1.5", nil), ("1e300", nil), ("1e400", nil), ("123456789012345678901234567890", nil),
            ("1e15", 1_000_000_000_000_000),
        ] as [(String, Int64?)]
    )
    func `a whole number is read in every notation`(_ text: String, _ expected: Int64?) throws {
        #expect(try value(text).integer == expected)
    }

    @Test func `an unsigned number has the whole range and no sign`() throws {
        #expect(try value("18446744073709551615").unsigned == UInt64.max)
        #expect(try value("18446744073709551616").unsigned == nil)
        #expect(try value("-1").unsigned == nil)
        #expect(try value("-1.0").unsigned == nil)
        #expect(try value("-0").unsigned == 0)
    }

    @Test(
        arguments: [
            "0", "-0.0", "0.1", "0.3", "-12.5", "123456789.012345", "4.35", "9007199254740993", "1e23", "2.5e-324",
            "0.1e1",
            "1.7976931348623157e308", "3.141592653589793238462643", "99999999999999.9", "0.000000000000001",
        ]
    )
    func `a number is rounded as in the standard library`(_ text: String) throws {
        #expect(try value(text).double == Double(text))
    }

    @Test func `a number too large for a Double is nil`() throws {
        #expect(try value("1e400").double == nil)
        #expect(try value("-1e400").double == nil)
        #expect(try value("1e-400").double == 0)
    }

    @Test func `the raw text is the original text`() throws {
        let text = #"{"id": 1.50e+2 ,"x":[ 1, {"y" : "\u0041"} ]}"#
        let value = try value(text)

        #expect(value.rawText == Array(text.utf8))
        #expect(value["id"]?.rawText == Array("1.50e+2".utf8))
        #expect(value["x"]?.rawText == Array(#"[ 1, {"y" : "\u0041"} ]"#.utf8))
    }

    @Test func `the description of a fault has the offset and not the text`() {
        #expect(JSONFault.malformed(at: 7).description == "malformed JSON at byte 7")
    }
}
