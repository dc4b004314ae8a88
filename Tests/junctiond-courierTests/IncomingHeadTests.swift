import JunctionNetworkHelper
import Testing

@testable import junctiond_courier

/// Parsing the status and the headers of an answer, line by line.
struct IncomingHeadTests {
    @Test func `interim answers and trailers are ignored`() throws {
        var head = IncomingHead()
        let lines = [
            "HTTP/1.1 100 Continue\r\n", "x-interim: 1\r\n", "\r\n",
            "HTTP/1.1 200 OK\r\n", "Content-Type:\t text/plain \r\n", "x-a:\r\n", "x-b: 1:2\r\n",
        ]
        for line in lines { #expect(take(line, &head) == nil) }
        let answer = try #require(take("\r\n", &head))

        #expect(answer.status == 200)
        #expect(answer.headers.map { "\($0.name)=\($0.value)" } == ["Content-Type=text/plain", "x-a=", "x-b=1:2"])
        #expect(take("x-trailer: 1\r\n", &head) == nil)
        #expect(take("\r\n", &head) == nil)
    }

    @Test func `a value on several lines is joined with a space`() throws {
        var head = IncomingHead()
        let lines = [
            "HTTP/1.1 200 OK\r\n", " x: 0\r\n", "x-a: b \r\n", " \t cont\r\n", "\tmore: 1\r\n", " \r\n", "x-b:\r\n",
            " c\r\n", "bad name: d\r\n", " x-c: e\r\n",
        ]
        for line in lines { #expect(take(line, &head) == nil) }
        let answer = try #require(take("\r\n", &head))

        #expect(answer.headers.map { "\($0.name)=\($0.value)" } == ["x-a=b cont more: 1", "x-b=c"])
    }

    @Test func `a transfer coding on a second line counts`() {
        var head = IncomingHead()
        for line in ["HTTP/1.1 200 OK\r\n", "Transfer-Encoding: chunked,\r\n", " gzip\r\n"] { _ = take(line, &head) }

        #expect(isUnreadable("\r\n", &head))
    }

    @Test(arguments: ["Junction-Error\u{0B}", "Junction-Error ", " a", "a b", "", "a\u{E9}", "a(b)"])
    func `a header with an invalid name is skipped`(name: String) throws {
        var head = IncomingHead()
        _ = take("HTTP/1.1 200 OK\r\n", &head)
        _ = take("\(name): x\r\n", &head)
        _ = take("a!b: 1\r\n", &head)

        #expect(try #require(take("\r\n", &head)).headers.map(\.name) == ["a!b"])
    }

    @Test(arguments: [
        (["chunked"], true), (["Chunked"], true), (["gzip, chunked"], false), (["gzip"], false),
        (["gzip", "chunked"], false), (["chunked", "chunked"], true), (["identity"], true),
        (["chunked,\tdeflate"], false),
    ])
    func `an answer has no transfer coding that compresses`(codings: [String], isReadable: Bool) {
        var head = IncomingHead()
        _ = take("HTTP/1.1 200 OK\r\n", &head)
        for coding in codings { _ = take("Transfer-Encoding: \(coding)\r\n", &head) }

        #expect(isUnreadable("\r\n", &head) != isReadable)
    }

    @Test(arguments: [(256, true), (257, false)])
    func `a head has at most 256 headers`(count: Int, isReadable: Bool) {
        var head = IncomingHead()
        _ = take("HTTP/1.1 200 OK\r\n", &head)
        for number in 1..<count { _ = take("x-\(number): 1\r\n", &head) }

        #expect(isUnreadable("x: 1\r\n", &head) != isReadable)
    }

    @Test(arguments: [
        "HTTP/1.1 99 No\r\n", "HTTP/1.1 600 No\r\n", "HTTP/1.1\r\n", "HTTP/1.1 2oo OK\r\n", "HTTP/1.1 20000\r\n",
    ])
    func `an invalid status makes the answer unreadable`(line: String) {
        var head = IncomingHead()
        #expect(isUnreadable(line, &head) || isUnreadable("\r\n", &head))
    }

    @Test func `a line that looks like a status line is one only at the start of a head`() throws {
        var head = IncomingHead()
        for line in ["HTTP/1.1 403 Forbidden\r\n", "x-a: 1\r\n", "HTTP/1.1 200 Forged: x\r\n", "HTTP/1.1 200 OK\r\n"] {
            #expect(take(line, &head) == nil)
        }
        let answer = try #require(take("\r\n", &head))

        #expect(answer.status == 403)
        #expect(answer.headers.map(\.name) == ["x-a"])
    }

    @Test func `a 101 answer is unreadable`() {
        var head = IncomingHead()
        _ = take("HTTP/1.1 101 Switching Protocols\r\n", &head)
        _ = take("upgrade: x\r\n", &head)

        #expect(isUnreadable("\r\n", &head))
    }

    @Test(arguments: ["x-a: 1\r\n", "\r\n", "SSH-2.0\r\n"])
    func `a head without a status line is unreadable, also after an interim answer`(line: String) {
        var first = IncomingHead()
        #expect(isUnreadable(line, &first))

        var second = IncomingHead()
        for line in ["HTTP/1.1 103 Early Hints\r\n", "\r\n"] { #expect(take(line, &second) == nil) }
        #expect(isUnreadable(line, &second))
    }

    @Test func `control characters and invalid UTF-8 in a value do no harm`() throws {
        var head = IncomingHead()
        _ = take("HTTP/1.1 200 OK\r\n", &head)
        let line: [UInt8] = Array("x: a".utf8) + [0x07, 0xFF, 0x0D] + Array("b\r\n".utf8)
        _ = line.withUnsafeBytes { head.take($0) }
        let answer = try #require(take("\r\n", &head))

        #expect(answer.headers.first?.value == "a \u{FFFD} b")
        let isSaid = if Frame.encode(HelperMessage.head(answer), of: 1) != nil { true } else { false }
        #expect(isSaid)
    }

    @Test func `a head that is too long is unreadable`() {
        var head = IncomingHead()
        _ = take("HTTP/1.1 200 OK\r\n", &head)
        let line = "x: \(String(repeating: "a", count: 1_000))\r\n"
        #expect((0..<200).contains { _ in isUnreadable(line, &head) })
    }

    private func take(_ line: String, _ head: inout IncomingHead) -> AnswerHead? {
        let reading = Array(line.utf8).withUnsafeBytes { head.take($0) }
        if case .complete(let answer) = reading { return answer }
        return nil
    }

    private func isUnreadable(_ line: String, _ head: inout IncomingHead) -> Bool {
        let reading = Array(line.utf8).withUnsafeBytes { head.take($0) }
        if case .unreadable = reading { return true }
        return false
    }
}
