import Hummingbird
import NIOCore

extension Fault {
    /// Returns the answer for the client, given the original answer if there is one.
    func spoil(_ answer: Response?) throws -> Response {
        var answer = if let answer, !hasOwnAnswer { answer } else { try ownAnswer() }
        for (name, value) in headers ?? [:] {
            if let name = HeaderName(name) { answer.headers[name] = value }
        }
        if let contentType { answer.headers[.contentType] = contentType }
        if let slowBody { answer.body = answer.body.slowed(secondsPerByte: slowBody) }
        return answer
    }

    private func ownAnswer() throws -> Response {
        let code = HTTPResponse.Status(code: status ?? 200)
        if malformed == true {
            return .bytes(Array(#"{"access_token":"at_cut_off"#.utf8), status: code, contentType: "application/json")
        }
        if let oversize {
            return .bytes(oversized(oversize), status: code, contentType: "application/json")
        }
        return switch body {
        case .string(let text): .bytes(Array(text.utf8), status: code, contentType: "application/json")
        case .some(let value): try .json(value, status: code)
        case nil: try .json(Self.explanation, status: code)
        }
    }

    private static let explanation: JSONValue = [
        "detail": ["error_type": "injected_fault", "message": "the sandbox was told to answer so"]
    ]

    private func oversized(_ count: Int) -> [UInt8] {
        let start = Array(#"{"padding":""#.utf8)
        let end = Array(#""}"#.utf8)
        return start + Array(repeating: UInt8(ascii: "x"), count: max(0, count - start.count - end.count)) + end
    }
}

extension ResponseBody {
    /// Returns the same body, which is written byte by byte.
    fileprivate func slowed(secondsPerByte: Double) -> ResponseBody {
        ResponseBody(contentLength: contentLength) { writer in
            try await self.write(SlowWriter(destination: writer, pause: .seconds(secondsPerByte)))
        }
    }
}

private struct SlowWriter: ResponseBodyWriter {
    var destination: any ResponseBodyWriter
    let pause: Duration

    @concurrent
    mutating func write(_ buffer: ByteBuffer) async throws {
        for byte in buffer.readableBytesView {
            try await Task.sleep(for: pause)
            try await destination.write(ByteBuffer(bytes: [byte]))
        }
    }

    @concurrent
    consuming func finish(_ trailingHeaders: HTTPFields?) async throws {
        try await destination.finish(trailingHeaders)
    }
}
