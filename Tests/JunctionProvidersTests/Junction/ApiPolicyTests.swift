import JunctionSession
import Testing

@testable import JunctionProviders

struct ApiPolicyTests {
    private static let me = Sample.userId
    private static let other = Sample.otherUserId

    @Test(arguments: [
        ("GET", "/v2/user/\(me)"), ("DELETE", "/v2/user/\(me)/oura"),
        ("POST", "/v2/user/\(me)/sdk_sync_state/apple_health_kit"), ("GET", "/v2/user/providers/\(me)"),
        ("POST", "/v2/user/refresh/\(me)"), ("GET", "/v2/summary/sleep/\(me)"),
        ("GET", "/v2/summary/sleep/\(me)/stream"), ("POST", "/v2/summary/workouts/\(me)"),
        ("GET", "/v2/timeseries/\(me)/heartrate"), ("GET", "/v2/providers"), ("HEAD", "/v2/providers"),
    ])
    func `a path of the user's own resources is admitted`(method: String, path: String) throws {
        let admitted = try validate(method, path)

        #expect(admitted.method == method)
        #expect(admitted.path == path)
    }

    @Test(arguments: [
        ("GET", "/v2/user/\(other)"), ("GET", "/v2/user"), ("POST", "/v2/user"), ("GET", "/v2/user/resolve/\(me)"),
        ("GET", "/v2/user/resolve/anybody"), ("GET", "/v2/user/providers"), ("GET", "/v2/user/providers/\(other)"),
        ("GET", "/v2/user/providers/\(me)/x"), ("POST", "/v2/user/refresh/\(other)"), ("POST", "/v2/user/undo_delete"),
        ("GET", "/v2/user/\(other)/\(me)"), ("GET", "/v2/summary/\(me)"), ("GET", "/v2/summary/sleep/\(other)"),
        ("GET", "/v2/summary/sleep/raw/\(me)"), ("GET", "/v2/timeseries/heartrate/\(me)"),
        ("GET", "/v2/timeseries/\(other)/heartrate"), ("POST", "/v2/providers"), ("GET", "/v2/providers/\(me)"),
        ("GET", "/v2/link/token"), ("POST", "/v2/link/token/\(me)"), ("GET", "/v2/link/provider/oauth/oura"),
        ("POST", "/v2/link/code/create"), ("GET", "/v2"), ("GET", "/v3/user/\(me)"), ("GET", "/user/\(me)"),
        ("GET", "/v2/team/link/config"), ("GET", "/v2/order/\(me)"), ("GET", "/V2/user/\(me)"),
        ("GET", "/v2/USER/\(me)"),
    ])
    func `any other path is refused`(method: String, path: String) {
        #expect(refusal { try validate(method, path) }?.kind == .permissionDenied)
    }

    @Test(
        arguments: ["POST", "GET", "HEAD", "PUT", "PATCH", "DELETE"],
        [
            "/v2/user/\(me)/sign_in_token", "/v2/user/\(me.uppercased())/sign_in_token", "/v2/user/\(me)/Sign_In_Token",
            "/v2/user/\(me)/sign%5Fin_token", "/v2/user/\(me)/sign_in_toke%6e", "/v2/user/\(me)/sign_in_token/",
            "/v2/user/\(me)//sign_in_token", "/v2/user/\(me)/./sign_in_token", "/v2/user/\(me)/sign_in_token/x",
            "/v2/user/\(me)/x/../sign_in_token", "/v2/user/\(me)/sign_in_token%2f",
            "/v2/user/\(me)/%2esign_in_token/..",
        ]
    )
    func `a request for a Sign-In Token is refused`(method: String, path: String) {
        #expect(refusal { try validate(method, path) }?.kind == .permissionDenied)
    }

    @Test(
        arguments: ["DELETE", "PATCH", "PUT", "POST", "HEAD", "delete"],
        [
            "/v2/user/\(me)", "/v2/user/\(me.uppercased())", "/v2/user/%63\(me.dropFirst())", "/v2/user/\(me)/",
            "/v2/user//\(me)", "/v2/user/\(me)/.", "/v2/user/\(me)/x/..", "/v2/user/\(me)%2f", "/v2/user/\(me)?",
        ]
    )
    func `a request that changes or deletes the user is refused`(method: String, path: String) {
        #expect(refusal { try validate(method, path) }?.kind == .permissionDenied)
    }

    @Test func `a refusal for the method names the methods of the path`() {
        let refused = refusal { try validate("DELETE", "/v2/user/\(Self.me)") }
        #expect(refused?.message == "The method DELETE is not allowed on this path, only GET")
    }

    @Test(arguments: [
        "/v2/user/\(me)/../\(other)", "/v2/user/\(me)/%2e%2e/\(other)", "/v2/user/\(me)/%2E%2E/\(other)",
        "/v2/user/\(me)/%252e%252e/\(other)", "/v2/user/\(me)/..%2f\(other)", "/v2/user/\(me)%2f..%2f\(other)",
        "/v2/user/\(me)/..%5c\(other)", "/v2/user/\(me)\\..\\\(other)", "//evil.example/v2/user/\(me)",
        "https://evil.example/v2/user/\(me)", "/v2//user/\(me)", "/v2/user/\(me)?user_id=\(other)",
        "/v2/user/\(me)#", "/v2/user/\(me)%00", "/v2/user/\(me)\r\nx-evil: 1", "/v2/./user/\(me)", "/v2/user/\(me)/",
        "v2/user/\(me)", "", "/v2/user/\(me);x=1", "/v2/user/\u{FF0E}\u{FF0E}/\(other)",
    ])
    func `a manipulated path is refused`(path: String) {
        #expect(refusal { try validate("GET", path) }?.kind == .permissionDenied)
    }

    @Test func `an id in capitals or with escapes is the user's own and is sent in its normal form`() throws {
        #expect(try validate("get", "/v2/user/\(Self.me.uppercased())").path == "/v2/user/\(Self.me)")
        #expect(try validate("get", "/v2/user/%63\(Self.me.dropFirst())").path == "/v2/user/\(Self.me)")
        #expect(try validate("get", "/v2/providers").method == "GET")
    }

    @Test(arguments: ["providers", "resolve", "refresh", "undo_delete"])
    func `a user id that equals a word of the API gives access to nothing`(id: String) {
        let policy = ApiPolicy(userId: id)

        #expect(refusal { try policy.validate(ApiRequest(method: "GET", path: "/v2/user/\(id)/x")) } != nil)
    }

    @Test(arguments: ["TRACE", "CONNECT", "OPTIONS", "", "GET /", "GETT"])
    func `an unusual method is an invalid parameter`(method: String) {
        #expect(refusal { try validate(method, "/v2/providers") }?.kind == .invalidParameters)
    }

    @Test func `a link token for the signed-in user is admitted`() throws {
        let body = Array(#"{"provider":"oura","user_id":"\#(Self.me.uppercased())"}"#.utf8)

        #expect(try validate("POST", "/v2/link/token", body: body).body == body)
    }

    @Test(
        arguments: [
            nil, "", "{}", "[]", #"{"user_id":null}"#, #"{"user_id":"\#(other)"}"#, #"{"user_id":["\#(me)"]}"#,
            #"{"user_id":"\#(other)","user_id":"\#(me)"}"#, #"{"user_id":"\#(me)","user\u005fid":"\#(other)"}"#,
            #"{"x":{"user_id":"\#(me)"}}"#, "user_id=\(me)",
        ] as [String?]
    )
    func `a link token for another or an unknown user is refused`(body: String?) {
        let refusal = refusal { try validate("POST", "/v2/link/token", body: body.map { Array($0.utf8) }) }

        #expect(refusal?.kind == .permissionDenied)
    }

    @Test func `a link token request with a compressed body is refused`() {
        let body = Array(#"{"user_id":"\#(Self.me)"}"#.utf8)
        let refusal = refusal {
            try validate("POST", "/v2/link/token", headers: [("Content-Encoding", "gzip")], body: body)
        }

        #expect(refusal?.kind == .permissionDenied)
    }

    @Test func `headers that describe the content are admitted in lower case`() throws {
        let headers = [("Content-Type", "application/json"), ("If-None-Match", "\"x\"")]
        let admitted = try validate("GET", "/v2/providers", headers: headers)

        #expect(admitted.headers.map(\.name) == ["content-type", "if-none-match"])
    }

    @Test func `the paths and the header of a link token are refused`() throws {
        let headers = [("X-Vital-Link-Token", "abc")]

        for (method, path) in [
            ("GET", "/v2/link/provider/oauth/oura"), ("POST", "/v2/link/provider/email/freestyle_libre"),
        ] {
            let refused = refusal { try validate(method, path, headers: headers) }

            #expect(refused?.kind == .permissionDenied)
            #expect(
                refused?.message.contains("Get one with POST /v2/link/token, and send it to Junction yourself")
                    == true
            )
        }
        #expect(refusal { try validate("GET", "/v2/providers", headers: headers) }?.kind == .invalidParameters)
    }

    @Test(arguments: [
        ("Authorization", "Bearer x"), ("x-vital-api-key", "x"), ("Host", "evil.example"), ("Cookie", "a=b"),
        ("Content-Length", "7"), ("Transfer-Encoding", "chunked"), ("Connection", "close"), ("Expect", "100-continue"),
        ("X-HTTP-Method-Override", "DELETE"), ("X-Forwarded-For", "x"), ("User-Agent", "x"),
        ("Proxy-Authorization", "x"),
        ("accept\r\nx-evil", "1"), ("accept ", "x"), ("", "x"), ("accept", "a\r\nx-evil: 1"), ("accept", "é"),
        ("accept", String(repeating: "a", count: CallerHeaders.longestValue + 1)),
    ])
    func `other headers are invalid parameters, and the error does not repeat their values`(
        name: String,
        value: String
    ) {
        let refusal = refusal { try validate("GET", "/v2/providers", headers: [(name, value)]) }

        #expect(refusal?.kind == .invalidParameters)
        #expect(refusal?.message.contains("Bearer") == false)
    }

    @Test func `a header that occurs twice is an invalid parameter`() {
        let refusal = refusal { try validate("GET", "/v2/providers", headers: [("Accept", "a"), ("accept", "b")]) }

        #expect(refusal?.kind == .invalidParameters)
    }

    @Test func `a query or a body that is too long is an invalid parameter`() {
        var request = ApiRequest(method: "GET", path: "/v2/providers")
        request.query = [("a", String(repeating: "a", count: ApiRequest.longestQuery))]
        #expect(refusal { try ApiPolicy(userId: Self.me).validate(request) }?.kind == .invalidParameters)

        request = ApiRequest(method: "POST", path: "/v2/user/\(Self.me)/x")
        request.body = Array(repeating: 0, count: ApiRequest.longestBody + 1)
        #expect(refusal { try ApiPolicy(userId: Self.me).validate(request) }?.kind == .invalidParameters)
    }

    @Test func `an admitted request is admitted again unchanged`() throws {
        let once = try validate("post", "/v2/user/\(Self.me.uppercased())/x", headers: [("Accept", "a")], body: [1])

        let again = try ApiPolicy(userId: Self.me).validate(once)
        #expect((again.method, again.path, again.body) == (once.method, once.path, once.body))
        #expect(again.headers.elementsEqual(once.headers, by: ==))
    }

    private func validate(
        _ method: String,
        _ path: String,
        headers: [(String, String)] = [],
        body: [UInt8]? = nil
    ) throws(SessionError) -> ApiRequest {
        let headers = headers.map { (name: $0, value: $1) }
        return try ApiPolicy(userId: Self.me).validate(
            ApiRequest(method: method, path: path, headers: headers, body: body)
        )
    }

    private func refusal(_ body: () throws -> ApiRequest) -> SessionError? {
        do {
            _ = try body()
            return nil
        } catch {
            return error as? SessionError
        }
    }
}
