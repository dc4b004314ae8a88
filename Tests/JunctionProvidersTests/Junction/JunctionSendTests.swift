import JunctionSecret
import JunctionSession
import Testing

@testable import JunctionProviders

struct JunctionSendTests {
    private static let bearer = SessionSecrets(
        accessToken: SharedSecret(text: "access-1"),
        refreshToken: SharedSecret(text: "refresh-1")
    )

    @Test func `an admitted request is sent unchanged with the user's token`() async throws {
        try await Stage.play([.json(201, #"{"ok":true}"#)]) { stage in
            let junction = try stage.junction
            let request = ApiRequest(
                method: "post",
                path: "/v2/user/\(Sample.userId.uppercased())/sdk_sync_state/oura",
                query: [("from", "a b+c"), ("x&y", "é/?")],
                headers: [("Content-Type", "application/json")],
                body: Array("{}".utf8)
            )
            let admitted = try junction.validate(request, for: Sample.identity)
            let answer = try await junction.send(admitted, for: Sample.identity, with: Self.bearer)

            let sent = try #require(stage.server.requests.first)
            #expect(
                sent.line == "POST /v2/user/\(Sample.userId)/sdk_sync_state/oura"
                    + "?from=a%20b%2Bc&x%26y=%C3%A9%2F%3F HTTP/1.1"
            )
            #expect(sent.header("authorization") == "Bearer access-1")
            #expect(sent.header("x-vital-api-key") == nil)
            #expect(sent.header("content-type") == "application/json")
            #expect(sent.body == "{}")
            #expect(answer.status == 201)
            #expect(try await answer.taken(on: stage.http.eventLoop) == Array(#"{"ok":true}"#.utf8))
        }
    }

    @Test func `an API key is sent in its own header`() async throws {
        try await Stage.play([.json(200, "[]")]) { stage in
            let request = ApiRequest(method: "GET", path: "/v2/providers")
            let secrets = SessionSecrets(apiKey: SharedSecret(text: "sk_us_abc"))
            _ = try await stage.junction.send(request, for: Sample.identity, with: secrets)

            let sent = try #require(stage.server.requests.first)
            #expect(sent.header("x-vital-api-key") == "sk_us_abc")
            #expect(sent.header("authorization") == nil)
        }
    }

    @Test(arguments: [200, 204, 304, 400, 401, 403, 404, 409, 429, 500, 503])
    func `every status except a redirect is passed to the caller`(status: Int) async throws {
        try await Stage.play([.raw("HTTP/1.1 \(status) Scripted\r\ncontent-length: 0\r\n\r\n")]) { stage in
            let request = ApiRequest(method: "GET", path: "/v2/providers")
            let answer = try await stage.junction.send(request, for: Sample.identity, with: Self.bearer)

            #expect(answer.status == status)
        }
    }

    @Test func `a redirect is not followed`() async throws {
        try await Stage.play([.answer(307, [("location", "/elsewhere")], "")]) { stage in
            let failure = await sendFailure(stage)

            #expect(failure?.message.contains("redirect") == true)
            #expect(stage.server.requests.count == 1)
        }
    }

    @Test(arguments: [(300, true), (301, true), (302, true), (303, true), (305, false), (307, false), (308, false)])
    func `a redirect that may follow a call that was carried out says so`(status: Int, isAmbiguous: Bool) async throws {
        try await Stage.play([.answer(status, [("location", "/done")], "")]) { stage in
            let failure = await sendFailure(stage)

            #expect(failure?.ambiguous == isAmbiguous)
        }
    }

    @Test func `a redirect is refused while its body is still coming, on any thread`() async throws {
        let head = "HTTP/1.1 307 Temporary Redirect\r\nlocation: /elsewhere\r\ncontent-length: 9\r\n\r\npart"
        try await Stage.play([.stall(head)]) { stage in
            let failure = await sendFailure(stage)

            #expect(failure?.message.contains("redirect") == true)
        }
    }

    @Test func `headers of the connection and cookies are not passed on`() async throws {
        let headers = [
            ("Set-Cookie", "a=b"), ("Connection", "keep-alive, X-Hop"), ("Keep-Alive", "timeout=5"), ("X-Hop", "1"),
            ("Connection", "X-Other"), ("X-Other", "1"),
            ("ETag", "\"x\""), ("Content-Type", "application/json"),
        ]
        try await Stage.play([.answer(200, headers, "{}")]) { stage in
            let request = ApiRequest(method: "GET", path: "/v2/providers")
            let answer = try await stage.junction.send(request, for: Sample.identity, with: Self.bearer)

            #expect(answer.headers.map(\.name) == ["content-length", "ETag", "Content-Type"])
        }
    }

    @Test func `a length beside chunked encoding is not passed on`() async throws {
        let chunks = "2\r\n{}\r\n0\r\n\r\n"
        try await Stage.play([.answer(200, [("Transfer-Encoding", "chunked")], chunks)]) { stage in
            let request = ApiRequest(method: "GET", path: "/v2/providers")
            let answer = try await stage.junction.send(request, for: Sample.identity, with: Self.bearer)

            #expect(answer.headers.isEmpty)
            #expect(try await answer.taken(on: stage.http.eventLoop) == Array("{}".utf8))
        }
    }

    @Test func `an answer of 8 MiB is accepted, and one byte more is refused`() async throws {
        let most = String(repeating: "a", count: ApiRequest.longestBody)
        try await Stage.play([.answer(200, [], most), .answer(200, [], most + "a")]) { stage in
            let request = ApiRequest(method: "GET", path: "/v2/providers")
            let answer = try await stage.junction.send(request, for: Sample.identity, with: Self.bearer)
            #expect(try await answer.taken(on: stage.http.eventLoop).count == ApiRequest.longestBody)

            let failure = await sendFailure(stage)
            #expect(failure?.message.contains("longer than 8388608 bytes") == true)
        }
    }

    @Test func `a session without a credential sends nothing`() async throws {
        try await Stage.play([]) { stage in
            let failure = await sendFailure(stage, with: SessionSecrets())

            #expect(failure?.message.contains("sign in again") == true)
            #expect(stage.server.requests.isEmpty)
        }
    }

    private func sendFailure(_ stage: Stage, with secrets: SessionSecrets = bearer) async -> Unavailability? {
        do {
            let request = ApiRequest(method: "GET", path: "/v2/providers")
            _ = try await stage.junction.send(request, for: Sample.identity, with: secrets).taken(
                on: stage.http.eventLoop
            )
            return nil
        } catch {
            return error as? Unavailability
        }
    }
}
