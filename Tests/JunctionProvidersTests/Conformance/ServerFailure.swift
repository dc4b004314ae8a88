import Testing

@testable import JunctionProviders

/// A failure of a server that is not a verdict of any provider.
struct ServerFailure: Sendable, CustomTestStringConvertible {
    var name: String
    var step: ScriptedServer.Step
    /// Whether the server may have acted on the request.
    var isAmbiguous: Bool
    var retryAfter: Duration?
    /// Whether the server never answers. The client needs a short timeout then.
    var isSilent = false

    var testDescription: String { name }

    private static let html = "<html><body>Bad gateway</body></html>"
    private static let endless = String(repeating: " ", count: 1 << 17)

    static let all = [
        ServerFailure(
            name: "500 in HTML",
            step: .answer(500, [("content-type", "text/html")], html),
            isAmbiguous: true
        ),
        ServerFailure(
            name: "503 with Retry-After",
            step: .answer(503, [("retry-after", "7")], ""),
            isAmbiguous: false,
            retryAfter: .seconds(7)
        ),
        ServerFailure(
            name: "429 with a date",
            step: .answer(429, [("retry-after", "Sat, 21 Nov 2026 12:00:30 GMT")], "{}"),
            isAmbiguous: false,
            retryAfter: .seconds(30)
        ),
        ServerFailure(
            name: "404 in HTML",
            step: .answer(404, [("content-type", "text/html")], html),
            isAmbiguous: false
        ),
        ServerFailure(name: "400 without a body", step: .answer(400, [], ""), isAmbiguous: false),
        ServerFailure(
            name: "400 with an unknown type",
            step: .json(400, #"{"detail":{"error_type":"x"}}"#),
            isAmbiguous: false
        ),
        ServerFailure(name: "400 that never ends", step: .answer(400, [], endless), isAmbiguous: false),
        ServerFailure(name: "a redirect", step: .answer(302, [("location", "/v1/token")], ""), isAmbiguous: false),
        ServerFailure(
            name: "200 in HTML",
            step: .answer(200, [("content-type", "text/html")], html),
            isAmbiguous: true
        ),
        ServerFailure(name: "200 without a body", step: .answer(200, [], ""), isAmbiguous: true),
        ServerFailure(name: "200 with half a JSON text", step: .json(200, #"{"access_token":"a","#), isAmbiguous: true),
        ServerFailure(name: "200 with nothing in it", step: .json(200, "{}"), isAmbiguous: true),
        ServerFailure(name: "200 that is too long", step: .answer(200, [], endless), isAmbiguous: true),
        ServerFailure(name: "204", step: .raw("HTTP/1.1 204 No Content\r\n\r\n"), isAmbiguous: true),
        ServerFailure(name: "not HTTP", step: .raw("220 mail.example.com ESMTP\r\n"), isAmbiguous: true),
        ServerFailure(name: "closed without an answer", step: .closeConnection, isAmbiguous: true),
        ServerFailure(
            name: "closed within the answer",
            step: .raw("HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\n{\"access"),
            isAmbiguous: true
        ),
        ServerFailure(name: "silent", step: .stall(""), isAmbiguous: true, isSilent: true),
        ServerFailure(
            name: "silent within the answer",
            step: .stall("HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\n{\"access"),
            isAmbiguous: true,
            isSilent: true
        ),
    ]
}
