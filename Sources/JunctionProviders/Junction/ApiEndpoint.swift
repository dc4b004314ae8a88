import JunctionSecret
package import JunctionSession

/// Junction's API, called as the signed-in user.
extension JunctionProvider {
    package func send(
        _ request: ApiRequest,
        for identity: Identity,
        with secrets: SessionSecrets
    ) async throws(Unavailability) -> ApiAnswer {
        guard let site = JunctionSite(of: identity), let credential = Self.credential(secrets) else {
            throw Unavailability("The session has no credential for Junction's API: sign in again")
        }
        let call = HttpCall(
            method: request.method,
            origin: cloud.api(site),
            target: request.target,
            headers: request.headers + [credential],
            body: request.body.map(HttpCall.Body.plain),
            longestAnswer: ApiPolicy.longestBody
        )
        let answer: HttpAnswer
        do {
            answer = try await http.answer(to: call)
        } catch {
            throw Unavailability(error)
        }
        // "Not modified" is an answer to a question that the caller asked.
        guard !(300..<400).contains(answer.status) || answer.status == 304 else {
            throw answer.unavailability(now: clock.now().wall)
        }
        return ApiAnswer(
            status: answer.status,
            headers: answer.headersForCallers,
            body: answer.body.withUnsafeBytes { Array($0) }
        )
    }

    /// Exactly one of the two; the user's own token where there is one.
    private static func credential(_ secrets: SessionSecrets) -> (name: String, value: String)? {
        // Headers are strings in every HTTP library: these copies cannot be wiped.
        if let token = secrets.accessToken {
            return ("authorization", token.withUnsafeBytes { "Bearer \(String(decoding: $0, as: UTF8.self))" })
        }
        if let key = secrets.apiKey {
            return ("x-vital-api-key", key.withUnsafeBytes { String(decoding: $0, as: UTF8.self) })
        }
        return nil
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
        let named = header("connection")?.lowercased().split(separator: ",").map { $0.filter { $0 != " " } } ?? []
        return headers.filter { header in
            let name = header.name.lowercased()
            return !Self.ours.contains(name) && !named.contains(name)
        }
    }
}
