import JunctionSecret
import JunctionSession

/// A vendor's API as local apps call it: a request goes out as it was admitted, its answer comes back as it is.
struct VendorApi: Sendable {
    let origin: HttpOrigin
    let http: OutgoingHttp
    let clock: any SessionClock

    /// Sends one request with the header that is the session's credential.
    func send(
        _ request: ApiRequest,
        credential: (name: String, value: SharedSecret)
    ) async throws(Unavailability) -> ApiAnswer {
        let call = HttpCall(
            method: request.method,
            origin: origin,
            target: request.target,
            headers: request.headers,
            credentials: [credential],
            body: request.upload.map(HttpCall.Body.streamed) ?? request.body.map(HttpCall.Body.plain)
        )
        let isStreamed = if case .streamed = request.passage { true } else { false }
        let (head, body) = try await http.streamedAnswer(to: ApiCall(call, isStreamed: isStreamed))
        do throws(Unavailability) {
            try check(head)
        } catch {
            body.abandon()
            throw error
        }
        return ApiAnswer(status: head.status, headers: head.headersForCallers, body: [], stream: body)
    }

    /// "Not modified" is an answer to a question that the caller asked; no other redirect is one.
    private func check(_ answer: HttpAnswer) throws(Unavailability) {
        guard !(300..<400).contains(answer.status) || answer.status == 304 else {
            throw answer.unavailability(now: clock.now().wall)
        }
    }
}

extension ApiRequest {
    /// Path and query as they are sent.
    fileprivate var target: String {
        guard !query.isEmpty else { return path }
        let pairs = query.map { "\(PercentEncoding.encode($0.name))=\(PercentEncoding.encode($0.value))" }
        return "\(path)?\(pairs.joined(separator: "&"))"
    }
}

extension HttpAnswer {
    /// What concerns one connection ended with it, and cookies would be a second credential.
    private static let ours: Set<String> = [
        "connection", "keep-alive", "proxy-authenticate", "proxy-connection", "te", "trailer", "transfer-encoding",
        "upgrade", "set-cookie", "set-cookie2",
    ]

    fileprivate var headersForCallers: [(name: String, value: String)] {
        let all = headers.map { (name: $0.name.lowercased(), value: $0.value) }
        var left = Self.ours
        for header in all where header.name == "connection" {
            left.formUnion(
                header.value.lowercased().split(separator: ",").map { $0.filter { $0 != " " && $0 != "\t" } }
            )
        }
        // A length beside another statement of it is not to be believed (RFC 9112 §6.3): how much comes is counted anew.
        let lengths = all.count { $0.name == "content-length" }
        if lengths > 1 || all.contains(where: { $0.name == "transfer-encoding" }) { left.insert("content-length") }
        return headers.filter { !left.contains($0.name.lowercased()) }
    }
}
