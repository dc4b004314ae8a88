import JunctionSecret
import JunctionSession
import JunctionText
import Testing

@testable import JunctionProviders

struct SocialApiTests {
    @Test(arguments: [
        ("GET", "/api/v3/users/anna"), ("PUT", "/api/v4/users/anna"), ("GET", "/api/v5/users/anna/followers"),
        ("GET", "/api/v4/me"), ("GET", "/api/v4/me/user-blocks"), ("POST", "/api/v4/me/following/bert"),
    ])
    func `a path of the user's own resources is admitted`(method: String, path: String) throws {
        let admitted = try validate(method, path)

        #expect(admitted.method == method)
        #expect(admitted.path == path)
    }

    @Test(arguments: [
        "/api/v3/users/bert", "/api/v3/users", "/api/v3/users/bert/anna", "/api/v3/users/list", "/api/v2/users/anna",
        "/api/v6/users/anna", "/v3/users/anna", "/api/users/anna", "/api/v3/channels/anna", "/api/v4/sessions",
        "/api/v5/sessions", "/api/v3/mesh", "/api/v4/authentication/token", "/api", "/api/v3", "/API/v3/users/anna",
        "/api/v3/users/anna/../bert", "/api/v3/users/%2e%2e/users/bert", "/api/v3/me/../users/bert", "//api/v3/me",
        "/api/v3/users/anna%2fbert",
    ])
    func `any other path is refused`(path: String) {
        let refusal = #expect(throws: SessionError.self) { try validate("GET", path) }

        #expect(refusal?.kind == .permissionDenied)
    }

    @Test(arguments: [
        ("DELETE", "/api/v3/users/anna"), ("POST", "/api/v3/users/anna"), ("PATCH", "/api/v4/me"),
        ("DELETE", "/api/v5/me"), ("POST", "/api/v3/users/anna/ban"), ("POST", "/api/v4/users/anna/UNBAN"),
        ("PUT", "/api/v4/me/ban"),
    ])
    func `a request that manages the user is refused`(method: String, path: String) {
        let refusal = #expect(throws: SessionError.self) { try validate(method, path) }

        #expect(refusal?.kind == .permissionDenied)
    }

    @Test func `a request with the method HEAD has no body`() throws {
        var request = ApiRequest(method: "head", path: "/api/v3/me")
        request.body = Array("{}".utf8)
        let refusal = #expect(throws: SessionError.self) { try SocialApiPolicy(userId: "anna").validate(request) }
        #expect(refusal?.kind == .invalidParameters)

        request.body = []
        #expect(try SocialApiPolicy(userId: "anna").validate(request).body == nil)
    }

    @Test(arguments: ["list", "Search"])
    func `a user id that equals a word of the API gives access to nothing`(id: String) {
        #expect(throws: SessionError.self) { try validate("GET", "/api/v3/users/\(id)", userId: id) }
        #expect(throws: Never.self) { try validate("GET", "/api/v3/me", userId: id) }
    }

    @Test func `another spelling of the id is another user`() throws {
        #expect(try validate("get", "/api/v3/users/Anna", userId: "Anna").path == "/api/v3/users/Anna")
        #expect(throws: SessionError.self) { try validate("GET", "/api/v3/users/ANNA", userId: "Anna") }
    }

    @Test(arguments: [
        ("anna@example.com", "/api/v3/users/anna@example.com"),
        ("anna@example.com", "/api/v3/users/anna%40example.com/x"),
        ("Änne", "/api/v3/users/%C3%84nne"), ("a b+c:d", "/api/v4/users/a%20b+c%3ad"),
    ])
    func `an id that needs escapes gives access to its own path`(userId: String, path: String) throws {
        let admitted = try validate("GET", path, userId: userId)

        #expect(admitted.path.hasPrefix("\(path.prefix(14))"))
        #expect(admitted.path.split(separator: "/")[3] == "\(PercentEncoding.encode(userId))")
    }

    @Test(arguments: ["bert/followers", "bert%2Ffollowers", "bert;x", "bert?x", "bert#x", "bert\\x", "..", "."])
    func `an id that could change the path gives access to nothing`(userId: String) {
        for id in [userId, PercentEncoding.encode(userId)] {
            #expect(throws: SessionError.self) { try validate("GET", "/api/v3/users/\(id)", userId: userId) }
        }
    }

    @Test func `another user's id with unusual characters is refused`() {
        #expect(throws: SessionError.self) { try validate("GET", "/api/v3/users/bert@x", userId: "anna@x") }
        #expect(throws: SessionError.self) { try validate("GET", "/api/v3/users/anna@x/bert@x", userId: "anna@x") }
    }

    @Test func `a caller cannot set a credential`() {
        var request = ApiRequest(method: "GET", path: "/api/v3/me")
        request.headers = [("x-api-key", "mine")]

        let refusal = #expect(throws: SessionError.self) { try SocialApiPolicy(userId: "anna").validate(request) }
        #expect(refusal?.kind == .invalidParameters)
    }

    @Test func `a request has the user's token and not the application's key`() async throws {
        try await Stage.play([.json(200, #"{"users":[]}"#)]) { stage in
            let social = try stage.social
            let anna = Identity(userId: "anna")
            let request = ApiRequest(method: "GET", path: "/api/v3/users/anna", query: [("a", "b c")])
            let secrets = SessionSecrets(accessToken: SharedSecret(text: "access-1"))
            let answer = try await social.send(try social.validate(request, for: anna), for: anna, with: secrets)

            let sent = try #require(stage.server.requests.first)
            #expect(sent.line == "GET /api/v3/users/anna?a=b%20c HTTP/1.1")
            #expect(sent.header("authorization") == "Bearer access-1")
            #expect(sent.header("x-api-key") == nil)
            #expect(answer.status == 200)
            #expect(try await answer.taken(on: stage.http.eventLoop) == Array(#"{"users":[]}"#.utf8))
        }
    }

    @Test func `a session without a token sends nothing`() async throws {
        try await Stage.play([]) { stage in
            let social = try stage.social
            await #expect(throws: Unavailability.self) {
                try await social.send(
                    ApiRequest(method: "GET", path: "/api/v3/me"),
                    for: Identity(userId: "anna"),
                    with: SessionSecrets()
                )
            }
            #expect(stage.server.requests.isEmpty)
        }
    }

    private func validate(_ method: String, _ path: String, userId: String = "anna") throws -> ApiRequest {
        try SocialApiPolicy(userId: userId).validate(ApiRequest(method: method, path: path))
    }
}
