import Testing

@testable import JunctionToml

@Suite struct TomlReaderTests {
    @Test(
        arguments: [
            (#"a = "text""#, SettingValue.string("text")),
            (#"a = """#, .string("")),
            (#"a = "\b\t\n\f\r\"\\ \u00e9 \U0001F511""#, .string("\u{8}\t\n\u{C}\r\"\\ é 🔑")),
            (#"a = 'C:\no "escapes"'"#, .string(#"C:\no "escapes""#)),
            ("a = \"\"\"\nfirst\n  \"second\" \\\n   third\"\"\"", .string("first\n  \"second\" third")),
            ("a = \"\"\"\"\"two quotes\"\"\"\"\"", .string("\"\"two quotes\"\"")),
            ("a = '''\r\nraw \\n\r\n'''", .string("raw \\n\n")),
            ("a = 0", .integer(0)),
            ("a = -0", .integer(0)),
            ("a = +1_000", .integer(1_000)),
            ("a = 0xdead_BEEF", .integer(0xDEAD_BEEF)),
            ("a = 0o755", .integer(0o755)),
            ("a = 0b11", .integer(3)),
            ("a = 9223372036854775807", .integer(.max)),
            ("a = -9223372036854775808", .integer(.min)),
            ("a = true # comment", .boolean(true)),
            ("a = false\r\n", .boolean(false)),
            ("\u{FEFF}a = true", .boolean(true)),
            ("a = 9223372036854775808", .other("a number too large")),
            ("a = 1.5", .other("a number with a fraction")),
            ("a = 5e+22", .other("a number with a fraction")),
            ("a = -inf", .other("a number with a fraction")),
            ("a = 1979-05-27T07:32:00.5-07:00", .other("a date or time")),
            ("a = 1979-05-27 07:32:00Z", .other("a date or time")),
            ("a = 07:32:00", .other("a date or time")),
        ]
    )
    func `each form of a TOML value is read`(toml: String, expected: SettingValue) throws {
        #expect(try TomlReader.read(Array(toml.utf8))["a"] == Setting(value: expected, line: 1))
    }

    @Test func `keys may be bare, quoted and dotted`() throws {
        let root = try read("bare-key_1 = 1\n\"quoted key\".'another' . x = 2\n1234 = 3\n\"\" = 4")

        #expect(root["bare-key_1"]?.value == .integer(1))
        #expect(root["quoted key"]?.members?["another"]?.members?["x"] == Setting(value: .integer(2), line: 2))
        #expect(root["1234"]?.line == 3)
        #expect(root[""]?.line == 4)
    }

    @Test func `headers, dotted keys and braces make tables with their line`() throws {
        let root = try read(
            """
            [a.b]
            c = 1

            [a] # after its child
            d = { e = 2, f.g = [ "x", # comment
              3,
            ] }
            [[list]]
            [[list]]
            h = []
            [list.sub]
            """
        )

        #expect(root["a"]?.line == 4)
        #expect(root["a"]?.members?["b"]?.line == 1)
        let inline = root["a"]?.members?["d"]?.members
        #expect(inline?["e"]?.value == .integer(2))
        let elements = [Setting(value: .string("x"), line: 5), Setting(value: .integer(3), line: 6)]
        #expect(inline?["f"]?.members?["g"]?.value == .list(elements))
        let entries = try #require(root["list"]?.elements)
        #expect(entries.map(\.line) == [8, 9])
        #expect(entries[0].members == [:])
        #expect(entries[1].members?["h"]?.value == .list([]))
        #expect(entries[1].members?["sub"]?.line == 11)
    }

    @Test(
        arguments: [
            ("a = 1\n\na = 2", 3, "a is set twice, first on line 1"),
            ("[a]\n[a]", 2, "a is set twice, first on line 1"),
            ("a = 1\n[a]", 2, "a is set twice, first on line 1"),
            ("a = 1\na.b = 2", 2, "a is set twice, first on line 1"),
            ("[a.b]\n[a]\nb.c = 1", 3, "b is set twice, first on line 1"),
            ("a.b = 1\n[a]", 2, "a is set twice, first on line 1"),
            ("a = {}\n[a.b]", 2, "a is set twice, first on line 1"),
            ("a = [{}]\n[[a]]", 2, "a is set twice, first on line 1"),
            ("[a]\n[[a]]", 2, "a is set twice, first on line 1"),
            ("[[a]]\n[a]", 2, "a is set twice, first on line 1"),
            ("a = { b = 1, b = 2 }", 1, "b is set twice, first on line 1"),
            ("\n[[[access]]]", 2, "expected a name, of letters, digits, \"_\" and \"-\" or in quotes"),
            ("[]", 1, "expected a name, of letters, digits, \"_\" and \"-\" or in quotes"),
            ("[log\nlevel", 1, "expected \"]\", as in [name]"),
            ("[[access]\n", 1, "expected two brackets at the end of [[name]]"),
            ("a", 1, "expected \"=\", as in key = value"),
            ("a = ", 1, "expected a value"),
            ("a = 1 b = 2", 1, "expected the end of the line"),
            ("a = yes", 1, "expected a value that TOML knows; text stands in quotes"),
            ("a = 007", 1, "expected a value that TOML knows; text stands in quotes"),
            ("a = 1__0", 1, "expected a value that TOML knows; text stands in quotes"),
            ("a = 0x", 1, "expected a value that TOML knows; text stands in quotes"),
            ("a = 0o8", 1, "expected a value that TOML knows; text stands in quotes"),
            ("a = \"open\nb = 1", 1, "expected the quote that ends the text, on the same line"),
            ("a = \"\"\"open\nb", 1, "expected three quotes that end the text"),
            (#"a = "\x41""#, 1, #"an escape that TOML does not have; write \\ for a backslash"#),
            (#"a = "\uD800""#, 1, "an escape that is no character"),
            (#"a = "\u12""#, 1, "expected 4 hexadecimal digits"),
            ("a = [1,,2]", 1, "expected a value"),
            ("a = [1 2]", 1, "expected \",\" or \"]\" in a list"),
            ("a = [1,\n2", 2, "expected \",\" or \"]\" in a list"),
            ("a = [}]", 1, "expected a value"),
            ("a = {b = 1,}", 1, "expected a name, of letters, digits, \"_\" and \"-\" or in quotes"),
            ("a = {b = 1\n}", 1, "expected \",\" or \"}\" in a table on one line"),
            ("a = 1 # bell \u{7}", 1, "a control character in a comment"),
            ("a = 1\rb = 2", 1, "expected the end of the line"),
        ]
    )
    func `invalid TOML is refused with its line`(toml: String, line: Int, message: String) {
        #expect(throws: TomlFault(line: line, message: message)) { try read(toml) }
    }

    private func read(_ toml: String) throws(TomlFault) -> [String: Setting] { try TomlReader.read(Array(toml.utf8)) }
}

extension Setting {
    fileprivate var members: [String: Setting]? {
        if case .table(let members) = value { members } else { nil }
    }

    fileprivate var elements: [Setting]? {
        if case .list(let elements) = value { elements } else { nil }
    }
}
