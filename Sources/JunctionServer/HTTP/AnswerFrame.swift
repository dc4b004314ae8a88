import JunctionProtocol
import JunctionSession
import NIOCore
import NIOHTTP1

/// The head of an HTTP answer, and whether a body follows.
struct AnswerFrame {
    var head: HTTPResponseHead
    var hasBody: Bool

    private init(_ status: Int, _ headers: HTTPHeaders, hasBody: Bool) {
        head = HTTPResponseHead(version: .http1_1, status: HTTPResponseStatus(statusCode: status), headers: headers)
        self.hasBody = hasBody
    }

    init(page: HTTPPage, count: Int) {
        self.init(200, ["content-type": page.contentType, "content-length": "\(count)"], hasBody: true)
        head.headers.add(name: "cache-control", value: "no-store")
    }

    /// Makes the head of an answer that continues until the connection ends.
    init(stream page: HTTPPage) {
        self.init(200, ["content-type": page.contentType, "transfer-encoding": "chunked"], hasBody: true)
        head.headers.add(name: "cache-control", value: "no-store")
    }

    /// Makes the answer for an error of the daemon, with its body.
    static func telling(_ problem: Problem, allow: String? = nil, toHead: Bool) -> (AnswerFrame, ByteBuffer) {
        let body = ByteBuffer(json: problem)
        return (AnswerFrame(problem, allow: allow, count: body.readableBytes, toHead: toHead), body)
    }

    /// Adds the header that ends the connection: the daemon reads no further request from it.
    mutating func saysClose() {
        head.headers.add(name: "connection", value: "close")
    }

    /// Makes the head for an error of the daemon. The marker header distinguishes it from a provider's error with the
    /// same status.
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

    /// Makes the head of the provider's answer. Its headers about the body's length are replaced: a complete body gets
    /// a length, and a body that arrives in pieces is chunked.
    init(_ answer: JunctionSession.ApiAnswer, toHead: Bool) {
        self.init(answer.status, [:], hasBody: !toHead && answer.status != 204 && answer.status != 304)
        for (name, value) in answer.headers where !Self.ours.contains(name.lowercased()) {
            head.headers.add(name: name, value: value)
        }
        if !hasBody {
            // The length that the body would have had does not say where this answer ends (RFC 9110, section 8.6).
            let length = answer.headers.first { $0.name.lowercased() == "content-length" }?.value
            if toHead, answer.status != 204, let length { head.headers.add(name: "content-length", value: length) }
        } else if answer.stream == nil {
            head.headers.add(name: "content-length", value: "\(answer.body.count)")
        } else {
            head.headers.add(name: "transfer-encoding", value: "chunked")
        }
    }

    /// The header that marks the daemon's errors, in lower case.
    static let marker = "junction-error"

    /// The headers that only the daemon sets: its own, and those about the body's end and the connection.
    private static let ours: Set<String> = [
        marker, "connection", "content-length", "keep-alive", "trailer", "transfer-encoding", "upgrade",
    ]
}
