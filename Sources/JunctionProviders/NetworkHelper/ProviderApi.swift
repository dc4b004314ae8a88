import JunctionSecret
import JunctionSession
import JunctionText

/// A provider's API for local apps: sends an admitted request and returns its answer.
struct ProviderApi: Sendable {
    let origin: HTTPOrigin
    let http: OutgoingHTTP
    let clock: any SessionClock

    /// Sends one request with the header that holds the session's credential.
    func send(
        _ request: ApiRequest,
        credential: (name: String, value: SharedSecret)
    ) async throws(Unavailability) -> ApiAnswer {
        let call = HTTPCall(
            method: request.method,
            origin: origin,
            target: request.target,
            headers: request.headers,
            credentials: [credential],
            body: request.upload.map(HTTPCall.Body.streamed) ?? request.body.map(HTTPCall.Body.plain)
        )
        let isStreamed = if case .streamed = request.bodyTransfer { true } else { false }
        let (head, body) = try await http.streamedAnswer(to: call, isStreamed: isStreamed)
        do throws(Unavailability) {
            try check(head)
        } catch {
            body.abandon()
            throw error
        }
        return ApiAnswer(status: head.status, headers: head.headersForCallers, body: [], stream: body)
    }

    /// Refuses redirects. 304 is allowed, because it answers a conditional request of the caller.
    private func check(_ answer: HTTPAnswer) throws(Unavailability) {
        guard !(300..<400).contains(answer.status) || answer.status == 304 else {
            var redirect = answer.unavailability(now: clock.now().wall)
            // A 303 normally follows a request that the server has carried out (RFC 9110 section 15.4.4), and many
            // servers use 301 or 302 in its place.
            if answer.status <= 303 { redirect.ambiguous = true }
            throw redirect
        }
    }
}

extension ApiRequest {
    /// The path and the query.
    fileprivate var target: String {
        guard !query.isEmpty else { return path }
        let pairs = query.map { "\(PercentEncoding.encode($0.name))=\(PercentEncoding.encode($0.value))" }
        return "\(path)?\(pairs.joined(separator: "&"))"
    }
}

extension HTTPAnswer {
    /// Headers that are not passed on: those of the connection, which ends at the daemon, and cookies, which would be a
    /// second credential.
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
        // With several lengths, or a length beside `Transfer-Encoding`, the length is unreliable (RFC 9112 §6.3). The
        // daemon counts the bytes itself then.
        let lengths = all.count { $0.name == "content-length" }
        if lengths > 1 || all.contains(where: { $0.name == "transfer-encoding" }) { left.insert("content-length") }
        return headers.filter { !left.contains($0.name.lowercased()) }
    }
}
