import JunctionClient
import JunctionProtocol
import Testing

@testable import junctionctl

/// Unknown method names for `junctionctl rpc`.
struct MistypedMethodTests {
    @Test(arguments: [
        ("session.stauts", ["session.status"]), ("sesion.status", ["session.status"]), ("status", ["session.status"]),
        ("Token.Get", ["token.get"]), ("token_get", ["token.get"]), ("daemon.inf", ["daemon.info"]),
        ("session.signin", ["session.signIn"]), ("discover", ["rpc.discover"]), ("whoami", ["access.whoami"]),
        ("frobnicate", []), ("", []), ("x", []), (String(repeating: "session", count: 1_000), []),
    ])
    func `the suggestions are the most similar names`(name: String, meant: [String]) {
        #expect(MistypedMethod.nearest(to: name) == meant)
    }

    @Test func `two equally similar names are both suggested`() {
        #expect(MistypedMethod.nearest(to: "handler.nregister") == ["handler.register", "handler.unregister"])
    }

    @Test func `the error has the suggestions and the way to list all methods`() throws {
        let error = JunctionError(WireError.methodNotFound)
        let failure = try #require(MistypedMethod("session.stauts", error)).failure

        #expect(
            failure.line == "junctionctl: there is no such method (methodNotFound): "
                + "is it 'session.status'? 'junctionctl rpc rpc.discover' lists all"
        )
        #expect(failure.status == CommandFailure(error).status)
        let unlike = try #require(MistypedMethod("frobnicate", error)).failure
        #expect(unlike.remedy == "'junctionctl rpc rpc.discover' lists all")
    }

    @Test func `a known method that the daemon lacks is not a typing error`() {
        #expect(MistypedMethod("session.reconcile", JunctionError(WireError.methodNotFound)) == nil)
        #expect(MistypedMethod("session.stauts", JunctionError(WireError(.busy, "later"))) == nil)
    }
}
