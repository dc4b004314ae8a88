import JunctionProtocol
import JunctionSession
import NIOCore
import NIOHTTP1

/// The head of an answer over HTTP, and how its body ends.
struct AnswerFrame {
    var head: HTTPResponseHead
    /// Whether a body follows at all.
    var hasBody: Bool

    private init(_ status: Int, _ headers: HTTPHeaders, hasBody: Bool) {
        head = HTTPResponseHead(version: .http1_1, status: HTTPResponseStatus(statusCode: status), headers: headers)
        self.hasBody = hasBody
    }

    /// An answer of the daemon's own that is there already.
    init(page: HttpPage, count: Int) {
        self.init(200, ["content-type": page.contentType, "content-length": "\(count)"], hasBody: true)
        head.headers.add(name: "cache-control", value: "no-store")
    }

    /// One that goes on.
    init(stream page: HttpPage) {
        self.init(200, ["content-type": page.contentType, "transfer-encoding": "chunked"], hasBody: true)
        head.headers.add(name: "cache-control", value: "no-store")
    }

    /// An error of the daemon's own, and its body.
    static func telling(_ problem: Problem, allow: String? = nil, toHead: Bool) -> (AnswerFrame, ByteBuffer) {
        let body = ByteBuffer(json: problem)
        return (AnswerFrame(problem, allow: allow, count: body.readableBytes, toHead: toHead), body)
    }

    /// No further request is read from this connection.
    mutating func saysClose() {
        head.headers.add(name: "connection", value: "close")
    }

    /// An error of the daemon's own: the marker says so, for the provider has errors of the same status.
    private init(_ problem: Problem, allow: String?, count: Int, toHead: Bool) {
        self.init(
            problem.status,
            ["content-type": "application/problem+json", "content-length": "\(count)", Self.marker: problem.kind],
            hasBody: !toHead
        )
        head.headers.add(name: "cache-control", value: "no-store")
        if let seconds = problem.retryAfter {
            head.headers.add(name: "retry-after", value: "\(max(1, Int(seconds.rounded(.up))))")
        }
        if problem.status == 401 { head.headers.add(name: "www-authenticate", value: #"Junction realm="junctiond""#) }
        if let allow { head.headers.add(name: "allow", value: allow) }
    }

    /// The provider's answer. What concerns one connection has been left out of it; how its end is told is said anew, unless
    /// it said how long it is.
    init(_ answer: JunctionSession.ApiAnswer, toHead: Bool) {
        let mayHaveBody = !toHead && answer.status != 204 && answer.status != 304
        self.init(answer.status, [:], hasBody: mayHaveBody)
        var length: String?
        for (name, value) in answer.headers {
            switch name.lowercased() {
            case "content-length": length = Self.isLength(value) ? value : nil
            // Nobody speaks for us.
            case Self.marker: break
            default: head.headers.add(name: name, value: value)
            }
        }
        if !mayHaveBody {
            if answer.status != 204, let length { head.headers.add(name: "content-length", value: length) }
        } else if answer.stream == nil {
            head.headers.add(name: "content-length", value: "\(answer.body.count)")
        } else if let length {
            head.headers.add(name: "content-length", value: length)
        } else {
            head.headers.add(name: "transfer-encoding", value: "chunked")
        }
    }

    /// The header that tells our errors from the provider's, in lower case.
    static let marker = "junction-error"

    private static func isLength(_ text: String) -> Bool {
        (1...18).contains(text.utf8.count) && text.utf8.allSatisfy { (0x30...0x39).contains($0) }
    }
}
