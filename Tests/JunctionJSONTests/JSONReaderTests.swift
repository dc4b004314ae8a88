import JunctionSession
import Testing

@testable import JunctionJSON

struct JSONReaderTests {
    @Test func `a reader reads many texts`() throws {
        let reader = JSONReader()

        for number in 0..<100 {
            let value = try reader.read(Array(#"{"number":\#(number)}"#.utf8))
            #expect(value["number"]?.integer == Int64(number))
        }
    }

    @Test func `the memory of a text is reused after its values were released`() throws {
        let reader = JSONReader()
        let first = ObjectIdentifier(try reader.read(Array("[1,2]".utf8)).document)

        let second = ObjectIdentifier(try reader.read(Array(#"{"a":[]}"#.utf8)).document)

        #expect(first == second)
    }

    @Test func `a view can be kept as a value`() throws {
        let object = try JSONValue.parse(Array(#"{"a":[1,{"b":"kept"}]}"#.utf8))

        let kept = object.withView { view in
            view["a"]?.elements.compactMap { $0["b"] }.first.map(object.keep)
        }

        #expect(kept?.string == "kept")
    }

    @Test func `a value keeps its text when the reader reads the next one`() throws {
        let reader = JSONReader()

        let first = try reader.read(Array(#"["first"]"#.utf8))
        let second = try reader.read(Array(#"["another"]"#.utf8))

        #expect(first.elements.map(\.string) == ["first"])
        #expect(second.elements.map(\.string) == ["another"])
    }

    @Test func `a reader reads the next text after an invalid one`() throws {
        let reader = JSONReader()

        #expect(throws: JSONFault.self) { _ = try reader.read(Array(#"{"a":[[[1,2"#.utf8)) }

        #expect(try reader.read(Array("[true]".utf8)).elements.map(\.bool) == [true])
    }

    @Test func `a long text is read in the same way as a short one`() throws {
        let text = "[" + Array(repeating: "\"0123456789\"", count: 100_000).joined(separator: ",") + "]"
        let reader = JSONReader()

        let long = try reader.read(Array(text.utf8)).elements.reduce(0) { $0 + ($1.string?.utf8.count ?? 0) }
        let short = try reader.read(Array("[]".utf8))

        #expect(long == 1_000_000)
        #expect(short.elements.isEmpty)
    }

    @Test func `random bytes never trap`() {
        var random = Randomness(seed: 0x5EED)
        let reader = JSONReader(maximumDepth: 8)
        var accepted = 0
        let alphabet = Array(#"{}[]",:\/u0019abdeftrln.-+E "#.utf8) + [0x00, 0x0A, 0x7F, 0xC3, 0xA9, 0xED, 0xF0, 0xFF]

        for _ in 0..<200_000 {
            let length = Int.random(in: 0..<24, using: &random)
            let bytes = (0..<length).map { _ in alphabet.randomElement(using: &random) ?? 0 }
            guard let value = try? reader.read(bytes) else { continue }
            accepted += 1
            #expect(touch(value) > 0)
        }

        #expect(accepted > 1000)
    }

    @Test func `a text with one byte changed never traps`() {
        let text = Array(#"{"jsonrpc":"2.0","id":"\ud834\udd1e","params":[1.5e3,{"a":[null,true,"é"]}]}"#.utf8)
        let reader = JSONReader()

        for position in text.indices {
            for byte in UInt8.min...UInt8.max {
                var changed = text
                changed[position] = byte
                if let value = try? reader.read(changed) { #expect(touch(value) > 0) }
            }
        }
    }
}

/// Calls every accessor of a value and of all values in it. Returns the number of values.
private func touch(_ value: JSONValue) -> Int {
    _ = (value.string, value.secret, value.integer, value.unsigned, value.double, value.bool, value.isNull)
    _ = (value["a"], value.member(named: "a"), value.stringEquals("a"), value.rawText)
    return value.elements.reduce(1) { $0 + touch($1) }
        + value.members.reduce(0) { $0 + touch($1.name) + touch($1.value) }
}
