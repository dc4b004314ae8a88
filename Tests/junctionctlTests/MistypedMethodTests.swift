import JunctionClient
import JunctionProtocol
import Testing

@testable import junctionctl

/// A name for `junctionctl rpc` that is no method's.
struct MistypedMethodTests {
    @Test(arguments: [
        ("session.stauts", ["session.status"]), ("sesion.status", ["session.status"]), ("status", ["session.status"]),
        ("Token.Get", ["token.get"]), ("token_get", ["token.get"]), ("daemon.inf", ["daemon.info"]),
        ("session.signin", ["session.signIn"]), ("discover", ["rpc.discover"]), ("whoami", ["access.whoami"]),
        ("frobnicate", []), ("", []), ("x", []), (String(repeating: "session", count: 1_000), []),
    ])
    func `the nearest names are what was probably meant`(name: String, meant: [String]) {
        #expect(MistypedMethod.nearest(to: name) == meant)
    }

    @Test func `two that are as near are both named`() {
        #expect(MistypedMethod.nearest(to: "handler.nregister") == ["handler.register", "handler.unregister"])
    }

    @Test func `what is said names the methods that were probably meant, and where all are`() throws {
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

    @Test func `a method that this program knows and the daemon does not is another matter`() {
        #expect(MistypedMethod("session.reconcile", JunctionError(WireError.methodNotFound)) == nil)
        #expect(MistypedMethod("session.stauts", JunctionError(WireError(.busy, "later"))) == nil)
    }
}
