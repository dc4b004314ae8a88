import JunctionSecret
import JunctionTesting
import Testing

@testable import JunctionSession

/// The placeholders `:userId` and `{userId}` in a path stand for the signed-in user's id.
struct UserPlaceTests {
    @Test(arguments: [
        ("/v2/user/:userId", "/v2/user/alice"),
        ("/v2/user/{userId}/x", "/v2/user/alice/x"),
        ("/v2/user/%3AuserId", "/v2/user/alice"),
        ("/v2/user/%7BuserId%7d", "/v2/user/alice"),
        ("/v2/user/%7b%75serId%7D/", "/v2/user/alice/"),
        (":userId", "alice"),
        // Only a whole segment in one spelling is replaced.
        ("/v2/user/x:userId", "/v2/user/x:userId"),
        ("/v2/user/:userId2", "/v2/user/:userId2"),
        ("/v2/user/:userid", "/v2/user/:userid"),
        ("/v2/user/{user}", "/v2/user/{user}"),
        ("/v2/user/%7BuserId%7", "/v2/user/%7BuserId%7"),
        ("/v2/user/%253AuserId", "/v2/user/%253AuserId"),
        ("/v2/user/alice", "/v2/user/alice"),
        ("", ""),
    ])
    func `a whole segment is replaced, and nothing else`(path: String, named: String) {
        #expect(ApiRequest(method: "GET", path: path).naming("alice").path == named)
    }

    @Test func `an id stays one segment, with any characters`() {
        let named = ApiRequest(method: "GET", path: "/users/:userId/{userId}").naming("a/b c%3AuserId\u{1}é")

        let id = "a%2Fb%20c%253AuserId%01%C3%A9"
        #expect(named.path == "/users/\(id)/\(id)")
    }

    @Test func `a call goes to the user who is signed in, also after another user has signed in`() {
        let bench = OwnerBench().start().signIn("alice")
        bench.call("/v2/user/:userId")
        bench.signOut()
        bench.signIn("bob")
        bench.call("/v2/user/{userId}")

        #expect(bench.provider.apiCalls.map(\.path) == ["/v2/user/alice", "/v2/user/bob"])
    }

    @Test func `a path with the placeholder is still refused outside the user's own resources`() {
        let bench = OwnerBench().start().signIn("alice")

        #expect(bench.call("/v2/team/:userId").words == ["permissionDenied"])
        #expect(bench.provider.apiCalls.isEmpty)
    }
}
