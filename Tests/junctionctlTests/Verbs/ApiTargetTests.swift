import JunctionProtocol
import Testing

@testable import junctionctl

/// Parsing of the path of an API call.
struct ApiTargetTests {
    @Test func `a path without a query is unchanged`() throws {
        let target = try ApiTarget("/v2/user/a%2Fb")

        #expect(target.path == "/v2/user/a%2Fb")
        #expect(target.query.isEmpty)
    }

    @Test func `a query is unescaped once`() throws {
        let target = try ApiTarget("/v2/x?a=b%20c&d&e=f=%2525&%C3%A9=+?")

        #expect(target.path == "/v2/x")
        #expect(target.query == ["a": "b c", "d": "", "e": "f=%25", "é": "+?"])
    }

    @Test(arguments: ["", "v2", "?a=b", "/x?a=%", "/x?a=%2", "/x?a=%zz", "/x?a=%+1", "/x?a=%FF", "/x?a=1&a=2"])
    func `an invalid path or query is refused`(text: String) {
        let error = #expect(throws: CommandFailure.self) { try ApiTarget(text) }

        #expect(error?.status == .usage)
    }
}
