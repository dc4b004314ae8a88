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

    /// The provider's answer. Where its body ends is said anew, for nothing that came with the answer decides that: a body that
    /// is there is counted, and one that comes by and by has chunks.
    init(_ answer: JunctionSession.ApiAnswer, toHead: Bool) {
        self.init(answer.status, [:], hasBody: !toHead && answer.status != 204 && answer.status != 304)
        for (name, value) in answer.headers where !Self.ours.contains(name.lowercased()) {
            head.headers.add(name: name, value: value)
        }
        if !hasBody {
            // The length that the body would have had says nothing about where this answer ends (RFC 9110 section 8.6).
            let length = answer.headers.first { $0.name.lowercased() == "content-length" }?.value
            if toHead, answer.status != 204, let length { head.headers.add(name: "content-length", value: length) }
        } else if answer.stream == nil {
            head.headers.add(name: "content-length", value: "\(answer.body.count)")
        } else {
            head.headers.add(name: "transfer-encoding", value: "chunked")
        }
    }

    /// The header that tells our errors from the provider's, in lower case.
    static let marker = "junction-error"

    /// The headers that only the daemon sets: its own, and those that say where an answer ends and what becomes of a connection.
    private static let ours: Set<String> = [
        marker, "connection", "content-length", "keep-alive", "trailer", "transfer-encoding", "upgrade",
    ]
}
