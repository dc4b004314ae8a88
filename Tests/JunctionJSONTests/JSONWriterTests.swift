import JunctionJSON
import JunctionSecret
import Testing

struct JSONWriterTests {
    private func written(_ body: (inout JSONWriter) -> Void) -> String {
        var writer = JSONWriter()
        body(&writer)
        return String(decoding: writer.take(), as: UTF8.self)
    }

    @Test func `members are written in the order of the calls`() {
        let text = written { writer in
            writer.object { writer in
                writer.member("b", "text")
                writer.member("a", 7)
                writer.member("c", 0.5)
                writer.member("d", true)
                writer.member("e", nil as String?)
                writer.object("f") { $0.member("g", nil as String?) }
                writer.array("h") { writer in
                    writer.integer(1)
                    writer.array { _ in }
                    writer.object { _ in }
                    writer.bool(false)
                    writer.null()
                }
                writer.member("i", nil as Int?)
            }
        }

        #expect(
            text == #"{"b":"text","a":7,"c":0.5,"d":true,"e":null,"f":{"g":null},"h":[1,[],{},false,null],"i":null}"#
        )
    }

    @Test func `required characters are escaped, and slashes are not`() throws {
        let text = "\"\\/\u{8}\u{C}\n\r\t\u{0}\u{1F}\u{7F}é𝄞\u{2028}"

        let json = written { $0.string(text) }

        #expect(json == #""\"\\/\b\f\n\r\t\u0000\u001f"# + "\u{7F}é𝄞\u{2028}\"")
        #expect(try JSONValue.parse(Array(json.utf8)).string == text)
    }

    @Test(
        arguments: [
            (0, "0"), (-0.0, "0"), (60, "60"), (0.1, "0.1"), (-2.5, "-2.5"), (1e15, "1000000000000000"),
            (1e300, "1e+300"),
            (.leastNonzeroMagnitude, "5e-324"), (.infinity, "null"), (.nan, "null"),
        ]
    )
    func `a number is written in its shortest form`(_ number: Double, _ expected: String) {
        #expect(written { $0.double(number) } == expected)
    }

    @Test func `every finite number reads back as the same value`() throws {
        for pattern in stride(from: UInt64(0), to: UInt64.max - (1 << 52), by: 1 << 52 + 0x1234_5678_9AB) {
            let number = Double(bitPattern: pattern)
            guard number.isFinite else { continue }
            let json = written { $0.double(number) }
            #expect(try JSONValue.parse(Array(json.utf8)).double == number)
        }
    }

    @Test func `a value is copied to another text unchanged`() throws {
        let source = try JSONValue.parse(Array(#"{"id": 1.0e2}"#.utf8))
        let id = try #require(source["id"])

        let text = written { writer in
            writer.array { writer in
                writer.value(id)
                writer.raw(Array("[ ]".utf8))
                writer.string("x".dropFirst(0))
            }
        }

        #expect(text == #"[1.0e2,[ ],"x"]"#)
    }

    @Test func `names are escaped`() {
        let name = "a\"b"

        let text = written { writer in
            writer.object { writer in
                writer.key(name)
                writer.integer(UInt64.max)
                writer.member("c\n", 1)
            }
        }

        #expect(text == #"{"a\"b":18446744073709551615,"c\n":1}"#)
    }

    @Test func `a secret is written completely while the writer grows`() throws {
        let secret = SharedSecret(text: String(repeating: "s\"é", count: 500))
        var writer = JSONWriter(capacity: 1)

        writer.object { writer in
            writer.member("token", secret: secret)
            for index in 0..<100 {
                writer.key("k\(index)")
                writer.integer(index)
            }
        }
        let value = try JSONValue.parse(writer.take())

        #expect(value["token"]?.secret?.matches(secret) == true)
        #expect(value.member(named: "k99")?.integer == 99)
    }

    @Test func `a writer is empty after its text was taken`() {
        var writer = JSONWriter()
        writer.array { $0.integer(1) }
        _ = writer.take()

        writer.integer(2)

        #expect(writer.withUnsafeBytes { Array($0) } == Array("2".utf8))
        #expect(writer.count == 1)
    }
}
