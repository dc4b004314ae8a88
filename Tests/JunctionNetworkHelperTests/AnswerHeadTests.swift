import Testing

@testable import JunctionNetworkHelper

/// The length of an answer's body (RFC 9112 section 6.3).
struct AnswerHeadTests {
    struct Case: CustomTestStringConvertible, Sendable {
        var method = "GET"
        var status: UInt16 = 200
        var headers: [[String]] = []
        var length: AnswerHead.BodyLength?

        var testDescription: String { "\(method) \(status) \(headers)" }
    }

    @Test(arguments: [
        Case(length: .untilItsEnd),
        Case(headers: [["content-length", "5"]], length: .exactly(5)),
        Case(headers: [["Content-Length", "0"]], length: .exactly(0)),
        Case(headers: [["content-length", "5"], ["Content-Length", "05"]], length: .exactly(5)),
        Case(headers: [["content-length", "999999999999999999"]], length: .exactly(999_999_999_999_999_999)),
        Case(headers: [["content-length", "5"], ["content-length", "6"]]),
        Case(headers: [["content-length", ""]]),
        Case(headers: [["content-length", "5, 5"]]),
        Case(headers: [["content-length", "+5"]]),
        Case(headers: [["content-length", "-5"]]),
        Case(headers: [["content-length", "0x5"]]),
        Case(headers: [["content-length", "\u{FF15}"]]),
        Case(headers: [["content-length", "9999999999999999999"]]),
        Case(headers: [["content-length", "5"], ["Transfer-Encoding", "chunked"]], length: .untilItsEnd),
        Case(method: "HEAD", headers: [["content-length", "5"]], length: .exactly(0)),
        Case(status: 204, headers: [["content-length", "5"]], length: .exactly(0)),
        Case(status: 304, headers: [["content-length", "5"]], length: .exactly(0)),
        Case(status: 304, headers: [["transfer-encoding", "chunked"]], length: .exactly(0)),
        Case(method: "HEAD", headers: [["content-length", "x"]]),
    ])
    func `the head of an answer determines the length of its body`(example: Case) {
        let headers = example.headers.map { (name: $0[0], value: $0[1]) }

        #expect(
            AnswerHead(status: example.status, headers: headers).bodyLength(answering: example.method) == example.length
        )
    }
}
