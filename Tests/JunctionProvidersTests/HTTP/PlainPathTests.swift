import JunctionSession
import Testing

@testable import JunctionProviders

struct PlainPathTests {
    @Test(arguments: [
        ("/v2/providers", ["v2", "providers"]),
        ("/v2/user/%61bc", ["v2", "user", "abc"]),
        ("/v2/a.b-c_d~e", ["v2", "a.b-c_d~e"]),
        ("/v2/...", ["v2", "..."]),
    ])
    func `a plain path is split into segments`(text: String, segments: [String]) throws {
        #expect(try PlainPath(text).segments == segments)
    }

    @Test(arguments: [
        "", "v2/user", "https://evil.example/v2", "//evil.example/v2", "/v2//user", "/v2/user/", "/", "/v2/./user",
        "/v2/../user", "/v2/%2e%2e/user", "/v2/%2E/user", "/v2/.%2e/user", "/v2/a%2fb", "/v2/a%5cb", "/v2/a\\b",
        "/v2/%252e%252e/user", "/v2/a%00b", "/v2/a%0d%0ab", "/v2/a\nb", "/v2/a b", "/v2/a%20b", "/v2/user?x=y",
        "/v2/user%3fx", "/v2/user#x", "/v2/user;x", "/v2/üser", "/v2/%c3%bc", "/v2/%", "/v2/%4", "/v2/%zz", "/v2/a@b",
    ])
    func `an ambiguous path is refused`(text: String) {
        let refusal = #expect(throws: SessionError.self) { try PlainPath(text) }

        #expect(refusal?.kind == .permissionDenied)
    }

    @Test(arguments: ["/a%2fb", "/a%5Cb", "/a%25b", "/a;b", "/a%3Fb", "/a#b"])
    func `the error for a path that servers could read in two ways says so`(text: String) {
        let refusal = #expect(throws: SessionError.self) { try PlainPath(text, allowing: .anything) }

        #expect(refusal?.message.contains("could be read in two ways") == true)
    }

    @Test func `a path that is too long is refused`() {
        #expect(throws: SessionError.self) { try PlainPath("/" + String(repeating: "a", count: PlainPath.longest)) }
    }

    @Test(
        arguments: [
            ("/a:b", true), ("/a%40b", true), ("/%C3%BC", true), ("/a%2Fb", false), ("/a%5Cb", false), ("/a;b", false),
            ("/%FF", false), ("/%00", false), ("/%7F", false), ("/..", false), ("/%2E%2E", false),
        ]
    )
    func `an unknown API allows any character that is not ambiguous`(
        text: String,
        isPossible: Bool
    ) {
        #expect(((try? PlainPath(text, allowing: .anything)) != nil) == isPossible)
    }
}
