import JunctionProtocol
import Testing

@testable import JunctionServer

struct RequestRulesTests {
    private func judge(
        _ method: String = "GET",
        _ target: String = "/v2/user/:userId",
        _ headers: [(String, String)] = [],
        host: [String] = ["junction"],
        isHTTP11: Bool = true
    ) -> Result<AdmittedRequest, RefusedRequest> {
        let all = host.map { ("Host", $0) } + headers
        let head = RequestHead(
            method: method,
            target: target,
            headers: all.map { (name: $0.0, value: $0.1) },
            isHTTP11: isHTTP11
        )
        return Result { () throws(RefusedRequest) in try RequestRules.admit(head) }
    }

    private func status(_ result: Result<AdmittedRequest, RefusedRequest>) -> Int {
        if case .failure(let refused) = result { refused.status } else { 200 }
    }

    @Test(arguments: [
        (["junction"], 200), (["JUNCTION"], 200), ([], 400), (["junction", "junction"], 400), ([""], 421),
        (["localhost"], 421), (["junction.example.com"], 421), (["127.0.0.1"], 421), (["junction:80"], 200),
        (["junction:8080"], 421), (["junction "], 200), (["\t junction\t "], 200), (["junction\u{b}"], 421),
    ])
    func `a request has one Host header, with the value junction`(host: [String], expected: Int) {
        #expect(status(judge(host: host)) == expected)
    }

    @Test(arguments: [
        "Origin", "X-Forwarded-For", "x-forwarded-host", "X-Forwarded-Port", "X-Forwarded-Server", "Forwarded", "Via",
        "X-Real-IP",
    ])
    func `a request for another client is refused`(header: String) {
        #expect(status(judge("GET", "/v2/user/:userId", [(header, "x")])) == 403)
    }

    struct Length: Sendable {
        var headers: [(String, String)]
        var expected: Result<BodyFraming, Refused>
        struct Refused: Error, Equatable { var status: Int }

        init(_ headers: [(String, String)], _ framing: BodyFraming) {
            (self.headers, expected) = (headers, .success(framing))
        }
        init(_ headers: [(String, String)], refused: Int) {
            (self.headers, expected) = (headers, .failure(Refused(status: refused)))
        }
    }

    @Test(arguments: [
        Length([], .none),
        Length([("Content-Length", "0")], .none),
        Length([("Content-Length", "12")], .length(12)),
        Length([("content-length", "999999999999999999")], .length(999_999_999_999_999_999)),
        Length([("Transfer-Encoding", "Chunked")], .chunked),
        Length([("Content-Length", "1"), ("Transfer-Encoding", "chunked")], refused: 400),
        Length([("Content-Length", "1"), ("Content-Length", "2")], refused: 400),
        Length([("Content-Length", "1"), ("Content-Length", "1")], refused: 400),
        Length([("Content-Length", "1, 1")], refused: 400),
        Length([("Content-Length", "+1")], refused: 400),
        Length([("Content-Length", "-1")], refused: 400),
        Length([("Content-Length", "0x1")], refused: 400),
        Length([("Content-Length", "1 ")], .length(1)),
        Length([("Content-Length", " \t1\t ")], .length(1)),
        Length([("Content-Length", "\u{a0}1")], refused: 400),
        Length([("Content-Length", " ")], refused: 400),
        Length([("Content-Length", "")], refused: 400),
        Length([("Content-Length", "１")], refused: 400),
        Length([("Content-Length", "18446744073709551617")], refused: 400),
        Length([("Transfer-Encoding", "gzip, chunked")], refused: 501),
        Length([("Transfer-Encoding", "chunked, chunked")], refused: 501),
        Length([("Transfer-Encoding", "chunked"), ("Transfer-Encoding", "chunked")], refused: 501),
        Length([("Transfer-Encoding", "chunked ")], .chunked),
        Length([("Transfer-Encoding", "identity")], refused: 501),
        Length([("Transfer-Encoding", "\u{b}chunked")], refused: 501),
    ])
    func `a request has at most one valid length of its body`(length: Length) {
        let framing = judge("POST", "/v2/x", length.headers).map(\.body).mapError { Length.Refused(status: $0.status) }
        #expect(framing == length.expected)
    }

    @Test(arguments: [
        ("Content-Length", "0", 200), ("Content-Length", "1", 400), ("Transfer-Encoding", "chunked", 400),
    ])
    func `a request with the method HEAD has no body`(name: String, value: String, expected: Int) {
        #expect(status(judge("HEAD", "/v2/x", [(name, value)])) == expected)
    }

    @Test(arguments: [
        ("http://junction/v2/x", 400), ("junction:80", 400), ("*", 400), ("", 400), ("v2", 400), ("/v2/\u{e9}", 400),
        ("/v2/a b", 400), ("/v2#x", 400), ("/v2?a=%", 400), ("/v2?a=%zz", 400), ("/v2?a=%ff", 400),
        ("//junction/x", 200),
        ("/", 200), ("/v2?", 200), ("/v2/{userId}", 200), ("/.junctionx", 200), ("/.junction", 404),
        ("/.junction/", 404), ("/.junction/x", 404), ("/.junction/status/", 404), ("/.junction/STATUS", 404),
        ("/.junction/status?x=y", 200),
    ])
    func `a target is a path with a query`(target: String, expected: Int) {
        #expect(status(judge("GET", target)) == expected)
    }

    @Test func `a query is unescaped`() {
        let expected = RequestTarget(
            path: "/v2/%78",
            query: [("a b", "c=d"), ("e", ""), ("f", ""), ("a b", "+&é")]
        )
        guard case .success(let admitted) = judge("GET", "/v2/%78?a+b=c=d&e&&f=&a%20b=%2B%26%c3%A9") else {
            return #expect(Bool(false), "It was refused")
        }
        #expect(admitted.aim == .api(expected))
    }

    @Test(arguments: [
        ("GET", 200), ("HEAD", 200), ("POST", 200), ("PUT", 200), ("PATCH", 200), ("DELETE", 200), ("OPTIONS", 405),
        ("TRACE", 405), ("CONNECT", 405), ("get", 405), ("PROPFIND", 405),
    ])
    func `the methods are those of the API`(method: String, expected: Int) {
        let result = judge(method)
        #expect(status(result) == expected)
        if case .failure(let refused) = result { #expect(refused.allow == "GET, HEAD, POST, PUT, PATCH, DELETE") }
    }

    @Test(arguments: HTTPPage.allCases)
    func `a page can only be read`(page: HTTPPage) {
        for method in ["POST", "HEAD", "DELETE", "PUT"] {
            #expect(status(judge(method, page.path, [("Junction-Local", "true")])) == 405)
        }
        #expect(status(judge("GET", page.path, [("Junction-Local", "true"), ("Content-Length", "3")])) == 400)
        #expect(status(judge("GET", page.path, [("Junction-Local", "true")])) == 200)
    }

    @Test(
        arguments: [
            ([], 403), ([("Junction-Local", "true")], 200), ([("junction-local", "true")], 200),
            ([("Junction-Local", "true ")], 200), ([("Junction-Local", "1")], 403),
            ([("Junction-Local", "True")], 403), ([("Junction-Local", "true"), ("Junction-Local", "true")], 403),
            ([("Junction-Local", "true"), ("Origin", "null")], 403),
        ] as [([(String, String)], Int)]
    )
    func `the token page requires the guard header`(headers: [(String, String)], expected: Int) {
        #expect(status(judge("GET", "/.junction/token", headers)) == expected)
    }

    @Test(
        arguments: [
            ([("Connection", "Upgrade"), ("Upgrade", "h2c")], 400), ([("Upgrade", "websocket")], 400),
            ([("Connection", "keep-alive, upgrade")], 400), ([("Expect", "100-Continue")], 200),
            ([("Expect", "200-ok")], 417), ([("Expect", "100-continue"), ("Expect", "x")], 417),
        ] as [([(String, String)], Int)]
    )
    func `other protocols and other expectations are refused`(headers: [(String, String)], expected: Int) {
        #expect(status(judge("POST", "/v2/x", headers + [("Content-Length", "1")])) == expected)
    }

    @Test func `the connection options of a request are kept`() throws {
        #expect(try judge().get().keepsAlive)
        #expect(try !judge("GET", "/x", [("Connection", "foo, Close")]).get().keepsAlive)
        #expect(try !judge("GET", "/x", [("Expect", "100-continue")]).get().expectsContinue)
        #expect(try judge("PUT", "/x", [("Expect", "100-continue"), ("Content-Length", "1")]).get().expectsContinue)
        #expect(status(judge(isHTTP11: false)) == 505)
    }

    @Test func `the budget of a slow sender grows with the bytes that it sends`() {
        var budget = WaitingBudget(.seconds(10))
        budget.waited(.seconds(4), for: 0)
        #expect(budget.left == .seconds(6))
        budget.waited(.seconds(1), for: 2 * WaitingBudget.bytesASecond)
        #expect(budget.left == .seconds(7))
        budget.waited(.zero, for: 1 << 30)
        #expect(budget.left == .seconds(10))
        budget.waited(.seconds(10), for: 0)
        #expect(budget.isSpent)
    }
}
