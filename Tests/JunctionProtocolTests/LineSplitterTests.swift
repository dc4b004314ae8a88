import JunctionProtocol
import JunctionSession
import Testing

struct LineSplitterTests {
    @Test func `a line ends with a line feed, with or without a carriage return`() {
        #expect(lines(["one\ntwo\r\nthree\n"]) == ["one", "two", "three"])
    }

    @Test func `blank lines are skipped`() {
        #expect(lines(["\n\r\n  \n\t \r\nx\n\n"]) == ["x"])
    }

    @Test func `a last line counts without a line feed`() {
        #expect(lines(["one\ntwo"]) == ["one", "two"])
        #expect(lines(["one\n", "  "]) == ["one"])
        #expect(lines(["one\r"]) == ["one"])
    }

    @Test func `a line is returned only when it is complete`() {
        var splitter = LineSplitter()
        var start = 0

        let line = Array("one".utf8).withUnsafeBytes { splitter.nextLine(in: $0, from: &start) }

        #expect(line == nil)
        #expect(start == 0)
    }

    @Test func `a carriage return within a line is kept`() {
        #expect(lines(["a\rb\r\r\n"]) == ["a\rb\r"])
    }

    @Test func `a line of exactly the limit is returned, and one byte more is too long`() {
        #expect(lines(["12345678\n"], limit: 8) == ["12345678"])
        #expect(lines(["12345678\r\n"], limit: 8) == ["12345678"])
        #expect(lines(["12345678\r"], limit: 8) == ["12345678"])
        #expect(lines(["123456789\n"], limit: 8) == ["‹too long›"])
        #expect(lines(["123456789"], limit: 8) == ["‹too long›"])
    }

    @Test func `a line that is too long is reported once, and the next line is returned`() {
        let long = String(repeating: "x", count: 100)

        #expect(lines([long, long, "\nnext\n" + long + "\n"], limit: 8) == ["‹too long›", "next", "‹too long›"])
    }

    @Test func `a line that is too long is reported before its end has arrived`() {
        var splitter = LineSplitter(limit: 8)
        var start = 0

        let line = Array("123456789".utf8).withUnsafeBytes { splitter.nextLine(in: $0, from: &start) }

        #expect(line == .tooLong)
        #expect(start == 9)
    }

    @Test func `bytes that were searched are not searched again`() {
        var splitter = LineSplitter()
        var start = 0
        let bytes = Array("aa\naa\n".utf8)
        _ = bytes.prefix(2).withUnsafeBytes { splitter.nextLine(in: $0, from: &start) }

        // This line feed is added among the searched bytes afterwards, so the splitter does not find it.
        let line = Array("\na\naa\n".utf8).withUnsafeBytes { splitter.nextLine(in: $0, from: &start) }

        #expect(line == .complete(0..<2))
    }

    @Test func `the boundaries of chunks make no difference`() {
        var random = Randomness(seed: 7)
        let alphabet = Array("ab \t\r\n\n\r".utf8)

        for _ in 0..<3000 {
            let bytes = (0..<Int.random(in: 0...60, using: &random)).map { _ in
                alphabet.randomElement(using: &random) ?? 0
            }
            var chunks: [ArraySlice<UInt8>] = []
            var rest = bytes[...]
            while !rest.isEmpty {
                let count = Int.random(in: 1...rest.count, using: &random)
                chunks.append(rest.prefix(count))
                rest = rest.dropFirst(count)
            }
            let limit = Int.random(in: 0...12, using: &random)

            #expect(lines(of: chunks, limit: limit) == lines(of: [bytes[...]], limit: limit), "\(bytes) in \(chunks)")
        }
    }

    private func lines(_ chunks: [String], limit: Int = LineSplitter.longestLine) -> [String] {
        lines(of: chunks.map { Array($0.utf8)[...] }, limit: limit)
    }

    /// Returns the lines of a connection that receives these chunks and then the end of its input.
    private func lines(of chunks: [ArraySlice<UInt8>], limit: Int) -> [String] {
        var splitter = LineSplitter(limit: limit)
        var unread: [UInt8] = []
        var found: [String] = []
        for (index, chunk) in (chunks + [[]]).enumerated() {
            unread += chunk
            var start = 0
            unread.withUnsafeBytes { bytes in
                while let line = splitter.nextLine(in: bytes, from: &start, atEnd: index == chunks.count) {
                    switch line {
                    case .complete(let range): found.append(String(decoding: bytes[range], as: UTF8.self))
                    case .tooLong: found.append("‹too long›")
                    }
                }
            }
            unread.removeFirst(start)
        }
        return found
    }
}
